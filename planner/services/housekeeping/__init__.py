"""What nobody needs any more goes: old rows by age, teams and accounts on demand."""
