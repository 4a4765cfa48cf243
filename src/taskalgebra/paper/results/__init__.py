"""What experiments leave behind: tables on disk, how they were made, and the words in them."""
