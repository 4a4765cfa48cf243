"""The paper, reproduced: experiments, figures, claims, report."""
