"""What a team has used: bills, cluster logs and job files as hours, money and demand. PURE."""
