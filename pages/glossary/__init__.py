"""The parts of the Glossary page."""
