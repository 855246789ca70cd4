"""“You are Remit's reviewer.”: which words of the request the work never comes back to."""

import json

from sandbox.offline_model.language import content_words, listed, word_set, words
from sandbox.offline_model.transcript import (
    Reply,
    Transcript,
    as_object,
    as_objects,
    as_text,
    parsed,
)

MOST_GAPS = 5
ASKING = word_set(
    """find show search list look tell summarise summarize create make add open send draft archive
    label please from about task tasks issue issues mail mails email emails document documents
    meeting meetings write wrote say says said mention mentions"""
)


def review(transcript: Transcript) -> Reply:
    """Scores by the share of the request's words that calls, results or answer have."""
    work = as_object(parsed(transcript.request))
    wanted = list(
        dict.fromkeys(
            word.casefold() for word in content_words(as_text(work.get("request")), without=ASKING)
        )
    )
    calls = as_objects(work.get("calls"))
    done = " ".join(as_text(call.get(key)) for call in calls for key in ("arguments", "result"))
    said = {word.casefold() for word in words(f"{done} {as_text(work.get('answer'))}")}
    missing = [word for word in wanted if word not in said]
    proved = work.get("proved_gaps")
    gaps = [as_text(gap) for gap in proved if gap] if isinstance(proved, list) else []
    if missing:
        gaps.append(f"Nothing was found out about {listed(missing[:MOST_GAPS])}.")
    share = 1 - len(missing) / len(wanted) if wanted else 1.0
    return Reply(
        text=json.dumps(
            {
                "quality_score": round(share, 2),
                "completeness": round(share, 2),
                "relevance": round(share, 2),
                "gaps": gaps,
                "suggested_actions": [f"Search for {word}" for word in missing[:MOST_GAPS]],
                "recommendation": "gather_more" if 2 * len(missing) > len(wanted) else "proceed",
            },
            ensure_ascii=False,
        )
    )
