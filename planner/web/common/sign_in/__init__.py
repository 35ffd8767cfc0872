"""How people sign in: accounts, the company, second factors."""
