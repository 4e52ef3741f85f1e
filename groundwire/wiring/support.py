"""How a profile judges text that doesn't quote."""

from collections.abc import Callable

from contracts import Misconfigured
from groundwire.profiles import Profile


def build_support(profile: Profile) -> Callable[[str, str], float]:
    """The probability that a text bears out a claim, a sentence; Misconfigured where the profile can't tell."""
    from agents.support import LinearSupport
    from groundwire.corpus.chunking.sentences import sentences

    if not profile.critic.weights:
        raise Misconfigured(f"profile {profile.name} has no [critic.weights] to judge support by")
    judge = LinearSupport(profile.critic.weights, profile.critic.bias)

    def support(claim: str, evidence: str) -> float:
        return judge(claim, [evidence[a:b] for a, b in sentences(evidence, 0, len(evidence))])

    return support
