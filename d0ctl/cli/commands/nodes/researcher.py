"""`d0ctl researcher`: who has jobs, and which clusters belong to them."""

from typing import TYPE_CHECKING

from d0ctl.cli import options, session
from d0ctl.cli.action_command import Actions
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import print_list
from d0ctl.show import site_lists as lines

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site
    from d0ctl.store.clusters.cluster_views import ResearcherView

app = group("List or change the researchers of the site.", Actions)


@app.command("list")
def list_researchers(json: options.Json = False) -> None:
    """Show researchers with mail, private clusters and jobs."""
    from d0ctl.store.clusters import cluster_views

    found = session.read_all(cluster_views.researchers)
    print_list("researchers", found, _document, lines.researcher, lines.NO_RESEARCHERS, json=json)


def _document(researcher: "ResearcherView") -> "site.Researcher":
    from d0ctl.cli.schemas import site
    from d0ctl.cli.schemas.fill import fill

    return fill(site.Researcher, researcher, researcher=researcher.name)
