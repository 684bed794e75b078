"""Write the JSON Schema of the plan file from its types.

python scripts/make_plan_schema.py
"""

import json
from pathlib import Path

from vramledger.plan.read import plan_schema

TARGET = Path(__file__).parents[1] / "src" / "vramledger" / "plan" / "plan.schema.json"


def main() -> None:
    TARGET.write_text(json.dumps(plan_schema(), indent=2) + "\n", encoding="utf-8")
    print(f"{TARGET.name}  {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
