"""What is examined: functions, modules, and the frameworks that they come from."""
