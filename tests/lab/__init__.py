"""Made by this project, not needed to use it: training of the pocket model, and simulations. Nothing else imports it."""
