"""What a study declares, as rows: stored before its first call, and before prompts go out to another harness."""

from flipcore.runs.plan import Plan
from flipcore.store import rows


def declared_rows(study_plan: Plan) -> list:
    """Items, memberships and variants of a plan, by table."""
    study_id = study_plan.study.study_id
    variants = {v.variant_id: v for item_plan in study_plan.items for v in item_plan.variants}
    members = [
        {
            "study_id": study_id,
            "item_id": item_plan.item.item_id,
            "role": item_plan.role,
            "position": i,
            "confirmatory": item_plan.confirmatory,
        }
        for i, item_plan in enumerate(study_plan.items)
    ]
    return [
        ("items", [rows.item_row(item_plan.item) for item_plan in study_plan.items]),
        ("study_items", members),
        ("variants", [rows.variant_row(v) for v in variants.values()]),
        (
            "study_variants",
            [row for item_plan in study_plan.items for row in rows.study_variant_rows(study_id, item_plan.variants)],
        ),
    ]
