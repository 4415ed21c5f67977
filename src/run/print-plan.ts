/** Prints a plan in the format that was asked for: text, JSON, Markdown, HTML or Mermaid. */
import { formatAddress } from '../model/address.ts';
import { type Call, type CallObject, type CallValue, isCallObject } from '../model/call.ts';
import type { ShownDiagnostic } from '../model/diagnostic.ts';
import type { Json } from '../model/json.ts';
import { acknowledgeableIds, isBlocking, policyOf } from '../model/guard.ts';
import type { Plan } from '../model/plan.ts';
import { textsIn } from '../redaction/known-secrets.ts';
import { renderPlanJson } from '../report/json/plan.ts';
import { renderSarif } from '../report/json/sarif.ts';
import { renderMermaid } from '../report/markdown/mermaid.ts';
import { renderPlanMarkdown } from '../report/markdown/plan.ts';
import { renderDiagnostics } from '../report/text/diagnostics.ts';
import { renderPlan } from '../report/text/plan.ts';
import { countActions } from '../report/view/plan-summary.ts';
import { repositoryPath } from './answer.ts';
import type { CliHost } from './host.ts';
import { pullRequestLink, readEvent } from './pull-request.ts';
import { cleanDiagnostics, printDocument, type Terminal, textOutput } from './terminal.ts';

interface PrintedPlan {
  readonly calls?: boolean;
  /** the stack's argument on the command line */
  readonly stack?: string | undefined;
  /** each guard that blocks the plan was acknowledged */
  readonly isAcknowledged?: boolean;
  /** as text: the next steps, in place of the command that acknowledges the guards */
  readonly next?: readonly string[] | undefined;
}

export function printPlan(terminal: Terminal, made: Plan, about: PrintedPlan = {}): void {
  const { host, width, result } = terminal;
  const { calls = false, stack, isAcknowledged = false, next } = about;
  const options = { calls, now: host.now(), diagnostics: terminal.reported, ...(stack && { stack }) };
  const output = textOutput(terminal);
  const paint = output === host.stdout ? terminal.paint : terminal.errorPaint;
  output?.write(
    `${renderPlan(planWithWholeValues(made, host), { ...options, isAcknowledged, next, paint, ...(width === undefined ? {} : { width }) })}\n`,
  );
  const shown = () => planWithoutSecrets(made, host);
  printDocument(terminal, {
    json: (diagnostics) => renderPlanJson(made, { diagnostics, clean: host.clean }),
    markdown: (diagnostics) => renderPlanMarkdown(shown(), { ...options, diagnostics, next: result.next }),
    html: async (diagnostics) => {
      const { renderPlanHtml } = await import('../report/html/plan.ts');
      const review = pullRequestLink(host.env, await readEvent(host));
      return renderPlanHtml(shown(), { ...options, diagnostics, review, clean: host.clean });
    },
    mermaid: () => renderMermaid(shown()),
    sarif: (diagnostics) => {
      const clean = shown();
      return renderSarif([...diagnostics, ...clean.problems, ...guardProblems(clean)], {
        version: host.version,
        stackFile: result.stackFile ?? 'trueup.yaml',
        pathOf: (file) => repositoryPath(file, host),
      });
    },
  });
  if (terminal.format === 'mermaid') printWhatDiagramLacks(terminal, shown());
  const violations = guardProblems(made).filter(({ code }) => policyOf(code) !== undefined);
  result.found = [...made.problems, ...violations];
  result.outputs = planOutputs(made);
}

/** Prints what the diagram does not show, because an incomplete diagram looks complete. */
function printWhatDiagramLacks({ host, errorPaint }: Terminal, { problems, coverage }: Plan): void {
  if (problems.length > 0) host.stderr.write(`${renderDiagnostics(problems, { paint: errorPaint })}\n`);
  if (!coverage.complete) host.stderr.write('the read was incomplete, so changes may be missing here\n');
}

/** The plan without the secrets of the run. Called before a report cuts texts, because a part of a secret would not be recognized. */
export function planWithoutSecrets({ changes, problems, ...rest }: Plan, host: CliHost): Plan {
  const { clean } = host;
  return {
    ...clean(rest),
    problems: cleanDiagnostics(problems, host),
    changes: changes.map(({ calls, ...change }) => ({
      ...clean(change),
      calls: calls.map((call) => callWithoutSecrets(call, clean)),
    })),
  };
}

/** The same for a terminal, where fields keep their values, because values that differ only in secrets must stay different. */
export function planWithWholeValues(plan: Plan, host: CliHost): Plan {
  const { changes, ...rest } = planWithoutSecrets(plan, host);
  const whole = changes.map((change, at) => ({ ...change, fields: plan.changes[at]?.fields ?? [] }));
  return { ...rest, changes: whole };
}

function callWithoutSecrets(whole: Call, clean: CliHost['clean']): Call {
  const { path, body, ...call } = whole;
  const texts = textsIn([path, body ?? {}] as Json);
  if (clean(texts) === texts) return whole;
  const cleanText = (text: string) => clean([text])[0] ?? '';
  // References are not JSON, and contain no values.
  const cleanValue = (value: CallValue): CallValue => {
    if (typeof value === 'string') return cleanText(value);
    if (Array.isArray(value)) return (value as readonly CallValue[]).map(cleanValue);
    return isCallObject(value) ? cleanMembers(value) : value;
  };
  const cleanMembers = (value: CallObject) =>
    Object.fromEntries(Object.entries(value).map(([name, member]) => [cleanText(name), cleanValue(member)]));
  return {
    ...call,
    path: path.map((segment) => (typeof segment === 'string' ? cleanText(segment) : segment)),
    ...(body && { body: cleanMembers(body) }),
  };
}

/** The outputs for later steps of a CI job. */
function planOutputs({ stack, digest, changes, guards }: Plan): Readonly<Record<string, string>> {
  const counts = Object.entries(countActions(changes)).map(([action, count]) => [action, String(count)]);
  return {
    stack,
    digest,
    changes: String(changes.length),
    ...Object.fromEntries(counts),
    acknowledge: acknowledgeableIds(guards).join(','),
  };
}

/** Guards as problems with places, for formats that know nothing else: one for each resource, at its document. */
function guardProblems({ guards, changes }: Pick<Plan, 'guards' | 'changes'>): ShownDiagnostic[] {
  const places = new Map(changes.map(({ address, place }) => [formatAddress(address), place]));
  return guards.flatMap((guard): ShownDiagnostic[] => {
    const about = {
      code: guard.id,
      severity: isBlocking(guard) ? ('error' as const) : ('warning' as const),
      class: 'failure' as const,
    };
    if (guard.concerns.length === 0) return [{ ...about, message: guard.message }];
    return guard.concerns.map(({ address, messages }) => {
      const place = places.get(formatAddress(address));
      const message = `${formatAddress(address)}: ${messages.length === 0 ? guard.message : messages.join('; ')}`;
      return { ...about, message, ...(place === undefined ? {} : { place }) };
    });
  });
}
