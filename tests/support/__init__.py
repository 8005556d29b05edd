"""What tests share: small runs, toy games, fake workers, independent rules."""
