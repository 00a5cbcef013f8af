"""The state of the CPU share of a ready package's job."""

from d0ctl.show.why.subject import Subject
from d0ctl.store.attempts.history import share_usage
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.site import default
from d0ctl.units import duration


def standing(subject: Subject) -> str | None:
    """Say how many CPUs its group has and should have; None if the site has no shares."""
    store, job = subject.store, subject.job
    fair = share_usage.standing(store, placement.nodes(store), now=subject.now)
    group = None if fair is None else fair.groups.get(fair.paths.get(job.id, ""))
    if group is None:
        return None
    half = duration(float(default(store, "share-half-life")))
    name = f"share `{group.path}`" if group.path else "the group of jobs without a share"
    return (
        f"{name} has {group.has:g} of {group.target:.1f} CPUs of its share, and used "
        f"{duration(group.used)} of CPU time (half of that is forgotten every {half})"
    )
