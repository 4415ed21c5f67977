/**
 * What a service lacks of the workspaces API, as its answers show it: one sentence each, for the beginning of the report (rule 48).
 * Found out once, from answers that were read anyway, or by one cheap read before the first write.
 */
export const limits = {
  includedTags:
    'the service does not include tag bindings in its list of workspaces: they were read one workspace at a time, for declared and claimed workspaces only',
  tagFilter:
    'the service ignores the filter by tags: claims are seen only on workspaces that a manifest or the ledger names',
  tagBindings: 'the service has no tag bindings: it keeps neither tags nor claims',
  consumers: 'the service has no remote state consumers: who reads a state cannot be seen',
  safeDelete: 'the service has no safe delete',
  ownMode:
    'the service does not tell whether an execution mode is a workspace’s own: the mode that it has counts',
} as const;
