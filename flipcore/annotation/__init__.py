"""What people are asked, and what their answers allow."""
