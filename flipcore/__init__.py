"""flipcore: the statistics and perturbation core of Flipscope. It never imports streamlit."""

__version__ = "0.1.0"
