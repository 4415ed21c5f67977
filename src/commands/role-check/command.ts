/**
 * `trueup role check NAME [path]`: says whether a login with a JWT would succeed, and otherwise why not. Sends only GET, and
 * with `--try` one login whose token is revoked at once. Prints neither the JWT nor the token.
 */
import { isIP } from 'node:net';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { mountName } from '../../api/cluster-auth-mount.ts';
import { findDialect } from '../../api/dialects.ts';
import { megabyte } from '../../files/read-file.ts';
import { standardInput } from '../../manifest/files/find-stack.ts';
import { type LoginCheck, type LoginReport, type LoginTrial, wouldSucceed } from '../../model/login-check.ts';
import { quoted } from '../../model/quoted.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import {
  addExamples,
  command,
  type CommandEnd,
  type CommonOptions,
  formatOption,
  stackHelp,
  timeoutOption,
  traceOption,
} from '../../run/command-options.ts';
import { connectToRead, connectToTry } from '../../run/connect.ts';
import { CommandStop } from '../../run/command-stop.ts';
import { type ExitCode, exitCodes } from '../../run/exit-codes.ts';
import type { CliHost } from '../../run/host.ts';
import { readInput, type StackRun, withStack } from '../../run/load-manifests.ts';
import { readSecret } from '../../run/read-secret.ts';
import { listenForEnd, raceStop, type RunTime } from '../../run/stop-signals.ts';
import { type CommandContext, printJson, type Terminal } from '../../run/terminal.ts';
import { walkChecks } from './checks.ts';
import { chooseTarget, type ChosenRole } from './choose-target.ts';
import { parseJwt } from './parse-jwt.ts';
import { failed, passed, renderLogin, renderLoginJson } from './results.ts';
import { declaredRules, type FoundRules, liveRules } from './rules.ts';

export function defineCommand(role: Command, host: CliHost, { end, terminalOf }: CommandEnd): void {
  const check = command(
    role,
    'check',
    'Checks whether a login with a JWT would succeed, check by check; exits with 2 when it would not',
  );
  check
    .argument('<name>', 'the role')
    .argument('[path]', stackHelp)
    .requiredOption('--jwt <file>', 'the JWT of the service account; - reads it from standard input')
    .addOption(
      new Option('--against <what>', 'the role and config of the service, or those of the manifests, offline')
        .choices(['live', 'declared'])
        .default('live'),
    )
    .option('--target <name>', 'the target, where several may have the role')
    .option('--from <address>', 'the IP address that the login comes from', parseAddress)
    .option('--try', 'also log in, and revoke the token at once')
    .addOption(formatOption())
    .addOption(timeoutOption())
    .addOption(traceOption())
    .action(async (name: string, path: string | undefined, options: CheckRoleOptions) => {
      end(await checkRole(name, path, { options, context: { host, terminal: terminalOf(options) } }));
    });
  addExamples(role, [
    'trueup role check web --jwt ci.jwt',
    'check whether a service account can log in, and if not, why',
  ]);
  addExamples(
    check,
    ['trueup role check web --jwt ci.jwt', 'check against the live role and config'],
    [
      'trueup role check web --jwt ci.jwt --against declared --from 10.1.2.3',
      'check offline against the manifests, for a login from that address',
    ],
    ['kubectl create token ci | trueup role check web --jwt - --try', 'also log in'],
  );
}

function parseAddress(text: string): string {
  if (isIP(text) === 0) throw new InvalidArgumentError('an IP address such as 10.1.2.3');
  return text;
}

interface CheckRoleOptions extends CommonOptions {
  /** a file, or `-` for standard input */
  readonly jwt: string;
  readonly against: LoginReport['against'];
  readonly target?: string;
  /** the address that the login comes from */
  readonly from?: string;
  /** also log in, and revoke the token at once */
  readonly try?: boolean;
}

async function checkRole(
  role: string,
  path: string | undefined,
  { options, context }: { readonly options: CheckRoleOptions; readonly context: CommandContext },
): Promise<ExitCode> {
  const { host } = context;
  if (path === standardInput && options.jwt === standardInput)
    throw new CommandStop('usage', 'standard input can bring the stack or the JWT, not both');
  const { timeout, against } = options;
  const about = { host, stops: listenForEnd(host), timeout, ignoresMistakes: against === 'live' };
  return withStack(path, about, (run) => check({ ...context, ...run, role, options }));
}

interface CheckContext extends CommandContext, StackRun {
  readonly role: string;
  readonly options: CheckRoleOptions;
}

async function check(context: CheckContext): Promise<ExitCode> {
  const { options, terminal, role, stop } = context;
  const chosen = chooseTarget(context, role, options.target);
  const jwt = await readJwt(context);
  const checks = await raceStop(makeChecks(jwt, chosen, context), stop);
  const trial = options.try ? await tryLogin(jwt, chosen, context) : undefined;
  return report(terminal, {
    stack: context.stack.name,
    target: chosen.target.name,
    mount: mountOf(chosen),
    role,
    against: options.against,
    checks,
    ...(trial && { trial }),
  });
}

function mountOf({ target }: ChosenRole): string {
  return mountName(target, dialectOf(target));
}

function dialectOf(target: Target): Dialect {
  const dialect = findDialect(target.service, target.dialect);
  if (dialect === undefined) throw new Error(`no dialect ${target.dialect} for ${target.service}`);
  return dialect;
}

/** Reads the JWT, without white space around it, because files end with a newline. @throws CommandStop */
async function readJwt({ options, host, time }: CheckContext): Promise<string> {
  const text =
    options.jwt === standardInput
      ? await readPipedJwt(host, options, time)
      : await readSecret(
          { file: options.jwt },
          { env: host.env, directory: host.cwd },
          'the JWT to log in with',
        );
  return host.secrets.keep(text);
}

async function readPipedJwt(
  host: CliHost,
  { timeout }: CheckRoleOptions,
  { runEnded }: RunTime,
): Promise<string> {
  const input = await readInput(host, megabyte, { timeout, runEnded });
  return Buffer.from(input).toString('utf8').trim();
}

async function makeChecks(jwt: string, chosen: ChosenRole, context: CheckContext): Promise<LoginCheck[]> {
  const { options, host } = context;
  const found =
    options.against === 'live'
      ? await readLive(chosen, context)
      : declaredRules(chosen, dialectOf(chosen.target));
  const { role, config } = found;
  if (role === undefined) return [missingRole(chosen, options)];
  const attempt = { jwt, from: options.from, now: host.now() };
  const walked = walkChecks(attempt, { role, config });
  const message = options.against === 'live' ? 'the service has the role' : 'the manifests declare the role';
  return [passed('role', message), ...walked.map((check) => withPlace(check, chosen))];
}

/** Adds the place of the field to change, if the manifests declare the role or config that it belongs to. */
function withPlace(check: LoginCheck, { role, config }: ChosenRole): LoginCheck {
  const { field } = check;
  if (field === undefined) return check;
  const declared = { role, config }[field.of];
  return declared === undefined ? check : { ...check, place: declared.placeOf([field.name]) };
}

function missingRole({ name, target, role }: ChosenRole, { against }: CheckRoleOptions): LoginCheck {
  if (against === 'declared')
    return failed(
      'role',
      `no manifest declares a role ${quoted(name)} for target ${quoted(target.name)}`,
      'declare it, or correct the name',
    );
  const fix =
    role === undefined ? 'correct the name, or declare the role and apply it' : 'apply the manifests';
  return failed('role', `target ${quoted(target.name)} has no role ${quoted(name)}`, fix);
}

async function readLive(
  { target, name }: ChosenRole,
  { stack, host, time }: CheckContext,
): Promise<FoundRules> {
  const connected = await connectToRead({ ...stack, targets: [target] }, host, time);
  try {
    const [only] = connected.targets;
    if (only === undefined) throw new Error('the target was not connected');
    return await liveRules(only.openSession(), name);
  } finally {
    await connected.close();
  }
}

/** A text that is not a JWT is not sent, because it may be another secret. @returns undefined if no login was tried */
async function tryLogin(
  jwt: string,
  { target }: ChosenRole,
  { stack, host, time, role, stop }: CheckContext,
): Promise<LoginTrial | undefined> {
  if ('problem' in parseJwt(jwt)) return undefined;
  const connection = await connectToTry(stack, target, host, time);
  try {
    return await raceStop(connection.tryLogin(role, jwt), stop);
  } finally {
    await connection.close();
  }
}

function report(terminal: Terminal, found: LoginReport): ExitCode {
  const { host, paint, width = 100 } = terminal;
  if (terminal.format === 'json') printJson(terminal, (reported) => renderLoginJson(found, reported));
  else host.stdout.write(`${renderLogin(found, { paint, width })}\n`);
  return wouldSucceed(found) ? exitCodes.done : exitCodes.loginRefused;
}
