/** The checks of the stack and of the secrets that its manifests name. Mistakes in the stack do not stop the other checks. */
import { formatAddress } from '../../model/address.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { counted, quoted, quoteSome } from '../../model/quoted.ts';
import type { SecretSource, Stack } from '../../model/stack.ts';
import type { CliHost } from '../../run/host.ts';
import { type LoadedManifests, stackArgument } from '../../run/load-manifests.ts';
import { declaredSources, secretNameErrors } from '../../run/needed-secrets.ts';
import { secretContext, whyAbsent } from '../../run/read-secret.ts';
import { type Finding, failed, info, ok, warning } from './finding.ts';

/** The most mistakes that are shown; `trueup validate` shows all. */
const mostShown = 5;

function validateHint(path: string | undefined): string {
  const command = ['trueup validate', stackArgument(path) ?? []].flat().join(' ');
  return `run ${quoted(command)}, which shows each mistake with its place`;
}

/** @param path the path of the stack as the user typed it */
export function checkStack(
  { stack, diagnostics, resources, documents, complete }: LoadedManifests,
  path: string | undefined,
): Finding[] {
  const hint = validateHint(path);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length > 0 || stack === undefined)
    return errorFindings(errors, { id: stack === undefined ? 'stack-invalid' : 'manifests-invalid', hint });
  const incomplete = diagnostics.filter((diagnostic) => diagnostic.class === 'incomplete');
  if (!complete)
    return (incomplete.length > 0 ? incomplete : diagnostics).slice(0, mostShown).map((diagnostic) =>
      warning('stack', {
        id: 'manifests-incomplete',
        message: `${spotOf(diagnostic)}${diagnostic.message}: nothing undeclared is removed until then`,
        fix: diagnostic.fix ?? hint,
      }),
    );
  const targets = counted(stack.targets.length, 'target');
  return [
    ok(
      'stack',
      `${stack.file}: ${targets}, ${counted(documents, 'document')}, ${counted(resources.length, 'resource')}`,
    ),
  ];
}

interface ErrorKind {
  readonly id: 'stack-invalid' | 'manifests-invalid';
  readonly hint: string;
}

function errorFindings(errors: readonly Diagnostic[], { id, hint }: ErrorKind): Finding[] {
  const shown = errors.slice(0, mostShown).map((diagnostic) =>
    failed('stack', {
      id,
      message: `${spotOf(diagnostic)}${diagnostic.message}`,
      fix: diagnostic.fix ?? hint,
    }),
  );
  const more = errors.length - mostShown;
  if (more <= 0) return shown;
  return [...shown, failed('stack', { id, message: counted(more, 'more error'), fix: hint })];
}

function spotOf({ place }: Diagnostic): string {
  return place === undefined ? '' : `${place.file}:${place.line}: `;
}

interface SourceUse {
  readonly source: SecretSource;
  /** the resource or the setting that needs it, for messages */
  readonly by: string;
  /** whether an apply sends it */
  readonly isForApply: boolean;
}

/** Checks the sources that manifests name, and those of audit trails. As in a plan, the content of files is not read. */
export async function checkSecrets(
  stack: Stack,
  resources: LoadedManifests['resources'],
  host: CliHost,
): Promise<Finding[]> {
  const used = [
    ...declaredSources(resources, host.kinds).map(
      ({ source, address }): SourceUse => ({ source, by: formatAddress(address), isForApply: true }),
    ),
    ...auditSources(stack),
  ];
  const bySource = [...Map.groupBy(used, ({ source }) => JSON.stringify(source)).values()];
  const checked = await Promise.all(bySource.map((uses) => checkSource(uses, stack, host)));
  const names = secretNameErrors(resources, host).map(({ message, fix = 'rename it' }) =>
    failed('secrets', { id: 'secret-in-name', message, fix }),
  );
  const problems = [...checked.flat(), ...names];
  if (problems.length > 0) return problems;
  if (bySource.length === 0) return [ok('secrets', 'manifests name none')];
  return [ok('secrets', `${counted(bySource.length, 'source')} of manifests and audit trails can be read`)];
}

async function checkSource(uses: readonly SourceUse[], stack: Stack, host: CliHost): Promise<Finding[]> {
  const [first] = uses;
  if (first === undefined) return [];
  const { source, isForApply } = first;
  const context = isForApply ? secretContext(stack, host) : { env: host.env, directory: stack.directory };
  const why = await whyAbsent(source, context, { reads: false });
  if (why === undefined) return [];
  const by = [...new Set(uses.map((use) => use.by))];
  const problem = {
    id: 'secret-missing' as const,
    message: isForApply
      ? `${why}, and an apply that sends it for ${quoteSome(by, 3)} stops`
      : `${why}, which ${by.join(' and ')} needs`,
    fix: `${'env' in source ? 'set it' : 'write the file'} where apply runs`,
  };
  return [isForApply ? failed('secrets', problem) : info('secrets', problem)];
}

function auditSources({ targets, audit }: Stack): SourceUse[] {
  const tokens = targets.flatMap(({ name, auditToken }) =>
    auditToken === undefined
      ? []
      : [{ source: auditToken, by: `the audit trail of ${name}`, isForApply: false }],
  );
  const archive = audit?.archive;
  return archive?.in === 'postgres'
    ? [...tokens, { source: archive.url, by: 'the archive of audit trails', isForApply: false }]
    : tokens;
}
