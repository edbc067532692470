"""From hit lines to findings: scan, observe, runs, facts, logic, causality."""
