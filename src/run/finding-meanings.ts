/** What each finding of `trueup doctor` means, and what to do. `docs/reference/errors.md` and `trueup explain` show these texts. */

interface FindingMeaning {
  /** what was found, as a clause */
  readonly title: string;
  /** what to do, as an instruction without a full stop; a finding itself is more precise */
  readonly fix: string;
}

/** In the order of the checks. Scripts rely on the ids: they are not renamed. */
export const findingMeanings = {
  // node, git, ci
  'node-too-old': { title: 'Node is too old', fix: 'install a newer Node' },
  'git-missing': { title: 'git is missing, or cannot be run', fix: 'install git' },
  'git-no-repository': { title: 'The stack is in no git repository', fix: 'run "git init"' },
  'git-no-commit': { title: 'The repository has no commit', fix: 'commit the stack' },
  'git-shallow': {
    title: 'The clone is shallow, so the order of commits is asked of the remote',
    fix: 'fetch the whole history if the remote cannot be asked',
  },
  'ci-fork': {
    title: 'The job of the CI runs for a fork, without the secrets of the repository',
    fix: 'apply in a job of the target branch, after the merge',
  },
  'ci-unprotected-branch': {
    title: 'The branch of the job is not protected, so the job gets no protected variables',
    fix: 'apply on a protected branch',
  },
  'ci-unknown-job': {
    title: 'The CI is not known, so a repeated job does not continue its apply',
    fix: 'set TRUEUP_RUN_ID to an id that stays the same when the job is repeated',
  },
  'ci-no-comment-token': {
    title: 'The job has no token to write comments with',
    fix: 'set GITHUB_TOKEN or GITLAB_TOKEN for the step',
  },
  // stack, secrets, ledger, lock
  'stack-invalid': { title: 'The stack file has an error', fix: 'run "trueup validate"' },
  'manifests-invalid': { title: 'A manifest has an error', fix: 'run "trueup validate"' },
  'manifests-incomplete': {
    title: 'Not every manifest could be read, so nothing undeclared is removed',
    fix: 'correct what the finding names',
  },
  'secret-missing': {
    title: 'The source of a secret is missing',
    fix: 'set the variable, or write the file',
  },
  'secret-in-name': {
    title: 'A name or a key contains a secret',
    fix: 'use another name, and revoke the secret',
  },
  'ledger-unreadable': {
    title: 'The ledger cannot be read',
    fix: 'check its place and its login; rebuild a damaged one with "trueup recover"',
  },
  'ledger-unwritable': {
    title: 'The ledger can be read, but not written',
    fix: 'give the user of this run the right to write there',
  },
  'ledger-closed': {
    title: 'The ledger was closed, because the stack has a new name',
    fix: 'run the commands of the stack with the new name',
  },
  'ledger-other-repository': {
    title: 'The ledger was written from another repository, or another stack file',
    fix: 'rename one of the two stacks, or use "trueup recover --adopt-repository"',
  },
  'ledger-target-moved': {
    title: 'The address of a target changed since the last apply',
    fix: 'restore its address, or use "trueup recover --moved"',
  },
  'ledger-elsewhere': {
    title: 'There is no ledger where the stack file says, but one at another place',
    fix: 'move it with "trueup ledger move", or correct "spec.ledger"',
  },
  'ledger-lost': {
    title: 'There is no ledger, but resources have an ownership tag of this stack',
    fix: 'rebuild it with "trueup recover"; if another stack has the same name, rename one of them',
  },
  'ledger-other-id': {
    title: 'Resources have an ownership tag of a stack with the same name and another id',
    fix: 'rename one of the two stacks, or rebuild a lost ledger with "trueup recover"',
  },
  'history-damaged': {
    title: 'One of the newest entries of the history cannot be read',
    fix: 'restore it from a backup, or remove it',
  },
  'ledger-temporary': {
    title: 'The ledger is a local file in a CI job, so it is lost when the job ends',
    fix: 'keep it in git or PostgreSQL',
  },
  'lock-held': {
    title: 'Another apply holds the lock of the stack',
    fix: 'wait for it; if it has certainly ended, use "trueup unlock"',
  },
  'lock-of-earlier-attempt': {
    title: 'An earlier attempt of the same job holds the lock, which the next apply takes over',
    fix: 'nothing',
  },
  'lock-unreadable': {
    title: 'The lock cannot be read',
    fix: 'check the file or row that the finding names',
  },
  // address, proxy, tls
  'name-unknown': { title: 'The host name does not exist', fix: 'correct the "url" of the target' },
  'name-unresolved': { title: 'The name of the host could not be resolved', fix: 'check the DNS server' },
  'connection-refused': { title: 'Nothing listens at the address', fix: 'check host and port' },
  'connection-timeout': {
    title: 'The address cannot be reached',
    fix: 'check the network, the firewall, and whether a proxy is needed',
  },
  'connection-failed': { title: 'The connection failed', fix: 'check host and port' },
  'proxy-invalid': { title: 'The address of the proxy is not valid', fix: 'correct the variable' },
  'proxy-name-unknown': {
    title: 'The name of the proxy cannot be resolved',
    fix: 'correct the variable, or unset it',
  },
  'proxy-unreachable': { title: 'The proxy cannot be reached', fix: 'correct the variable, or unset it' },
  'proxy-login': {
    title: 'The proxy wants a login',
    fix: 'write user name and password into the variable of the proxy',
  },
  'proxy-refused': {
    title: 'The proxy refuses the host of the service',
    fix: 'allow the host on the proxy, or add it to NO_PROXY',
  },
  'tls-untrusted': {
    title: 'The certificate is signed by an authority that is not known here',
    fix: 'set "caCert" of the target',
  },
  'tls-expired': { title: 'The certificate has expired', fix: 'renew it' },
  'tls-expires-soon': { title: 'The certificate expires soon', fix: 'renew it' },
  'tls-not-yet-valid': {
    title: 'The certificate is not valid yet',
    fix: 'correct the clock of this machine',
  },
  'tls-wrong-host': {
    title: 'The certificate is for other names',
    fix: 'use one of its names in the "url" of the target',
  },
  'tls-missing': { title: 'The service does not speak TLS', fix: 'check the port' },
  'tls-ca-unusable': {
    title: 'The "caCert" of the target cannot be used',
    fix: 'give the certificate of the authority in PEM format',
  },
  'tls-failed': { title: 'The TLS connection failed', fix: 'check the port and the versions of TLS' },
  'tls-not-used': {
    title: 'A token is sent without encryption: the address begins with "http://"',
    fix: 'use "https://" in the "url" of the target',
  },
  // service, clock
  'service-redirects': {
    title: 'The service redirects to another address, where no token is sent',
    fix: 'set the "url" of the target to the address of the service itself',
  },
  'service-foreign': {
    title: 'The answer does not come from the service',
    fix: 'correct the "url" of the target',
  },
  'service-failing': { title: 'The service fails', fix: 'check its state and its log' },
  'service-sealed': { title: 'The service is sealed', fix: 'unseal it' },
  'service-uninitialized': { title: 'The service is not initialized', fix: 'initialize and unseal it' },
  'service-standby': {
    title: 'The node is a standby, or a secondary',
    fix: 'use the address of the primary if it serves no requests',
  },
  'clock-differs': {
    title: 'The clock differs from that of the service',
    fix: 'synchronize the clocks (NTP)',
  },
  'clock-unknown': { title: 'The service does not show its clock', fix: 'nothing' },
  // token, place, dialect, features, rights
  'token-missing': { title: 'The token cannot be read', fix: 'set its variable, or write its file' },
  'token-refused': { title: 'The service does not accept the token', fix: 'use a valid token' },
  'token-ends-soon': { title: 'The token is valid for a short time only', fix: 'renew it, or use a login' },
  'token-limited': {
    title: 'The token may be used for few requests only',
    fix: 'use a token without a limit of uses, or a login',
  },
  'audit-token-unusable': {
    title: 'The "auditToken" of a target cannot read the audit trail',
    fix: 'correct it; without it, "drift" cannot show who changed a resource',
  },
  'login-refused': { title: 'The login is refused', fix: 'check role, mount and JWT of the target' },
  'organization-missing': {
    title: 'The organization does not exist, or the token cannot see it',
    fix: 'correct "organization" of the target, or use another token',
  },
  'organization-refused': {
    title: 'The workspaces of the organization cannot be listed',
    fix: 'give the token the right to read all workspaces',
  },
  'namespace-missing': { title: 'The namespace does not exist', fix: 'correct "namespace" of the target' },
  'mount-missing': {
    title: 'The mount does not exist, or it does not serve cluster authentication',
    fix: 'correct "mount" of the target, or enable the method there',
  },
  'mount-refused': {
    title: 'The mount cannot be read with this token',
    fix: 'give the token a policy with "list" and "read"',
  },
  'mount-other': { title: 'The mount is of another method', fix: 'correct "mount" of the target' },
  'dialect-differs': {
    title: 'The service speaks another dialect than that of the target',
    fix: 'write the dialect of the service into the target',
  },
  'dialect-unknown': {
    title: 'Nothing shows that the service speaks the dialect of the target',
    fix: 'make sure that the dialect of the target is that of the service',
  },
  'feature-missing': { title: 'The service lacks something', fix: 'nothing, if the stack does not use it' },
  'feature-needed': {
    title: 'The service lacks something that the stack uses',
    fix: 'follow the finding: it says what to change in the stack',
  },
  'read-incomplete': {
    title: 'Not everything could be read, so a plan deletes nothing',
    fix: 'correct what the finding names',
  },
  'read-failed': {
    title: 'The target, or a list of it, could not be read',
    fix: 'correct what the finding names',
  },
  'right-missing': {
    title: 'The token lacks a right on a declared resource',
    fix: 'give the token the right, or use another token',
  },
  'rights-unknown': { title: 'The service does not show the rights of the token', fix: 'nothing' },
  // any check
  unchecked: { title: 'A check was not made', fix: 'correct what an earlier finding names' },
} as const satisfies Readonly<Record<string, FindingMeaning>>;

export type ProblemId = keyof typeof findingMeanings;
