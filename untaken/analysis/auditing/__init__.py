"""Plan audit: is the plan itself right? (§10)"""

from untaken.analysis.auditing.audit import (
    ALARMS as ALARMS,
    EdgeAudit as EdgeAudit,
    NodeAudit as NodeAudit,
    PlanAudit as PlanAudit,
    audit_plans as audit_plans,
)
from untaken.analysis.auditing.writes import ExpectedWrite as ExpectedWrite, TaskAudit as TaskAudit
