/** Prints a plan in the format that was asked for: text, JSON, Markdown, HTML or Mermaid. */
import { blockingIds } from '../model/guard.ts';
import type { Plan } from '../model/plan.ts';
import { countActions } from '../report/view/plan-summary.ts';
import { renderMermaid } from '../report/markdown/mermaid.ts';
import { renderPlanJson } from '../report/json/plan.ts';
import { renderPlanMarkdown } from '../report/markdown/plan.ts';
import { renderDiagnostics } from '../report/text/diagnostics.ts';
import { renderPlan } from '../report/text/plan.ts';
import type { CliHost } from './host.ts';
import { readEvent, reviewLink } from './pull-request.ts';
import { printDocument, type Terminal, textOutput } from './terminal.ts';

/** @param about.stack the stack's argument on the command line */
export function printPlan(
  terminal: Terminal,
  made: Plan,
  about: { readonly calls?: boolean; readonly stack?: string | undefined } = {},
): void {
  const { host, width, pending } = terminal;
  const { calls = false, stack } = about;
  const options = { calls, now: host.now(), told: terminal.reported, ...(stack && { stack }) };
  const output = textOutput(terminal);
  const paint = output === host.stdout ? terminal.paint : terminal.errorPaint;
  output?.write(`${renderPlan(made, { ...options, paint, ...(width === undefined ? {} : { width }) })}\n`);
  printDocument(terminal, {
    json: (told) => renderPlanJson(made, { told, clean: host.clean }),
    markdown: (told) => renderPlanMarkdown(planWithoutSecrets(made, host), { ...options, told }),
    html: async (told) => {
      const { renderPlanHtml } = await import('../report/html/plan.ts');
      const review = reviewLink(host.env, await readEvent(host));
      return renderPlanHtml(planWithoutSecrets(made, host), { ...options, told, review, clean: host.clean });
    },
    mermaid: () => renderMermaid(planWithoutSecrets(made, host)),
  });
  if (terminal.format === 'mermaid') tellWhatNoPictureShows(terminal, made);
  pending.found = made.problems;
  pending.outputs = planOutputs(made);
}

/** A picture of a part of the changes looks like one of all. */
function tellWhatNoPictureShows({ host, errorPaint }: Terminal, { problems, coverage }: Plan): void {
  if (problems.length > 0) host.stderr.write(`${renderDiagnostics(problems, { paint: errorPaint })}\n`);
  if (!coverage.complete) host.stderr.write('the look was incomplete, so changes may be missing here\n');
}

/** Calls hold references, which are no JSON, and are printed as they are: secrets in them are found in what is printed. */
export function planWithoutSecrets({ changes, ...rest }: Plan, { clean }: CliHost): Plan {
  return {
    ...clean(rest),
    changes: changes.map(({ calls, ...change }) => ({ ...clean(change), calls })),
  };
}

/** For later steps of a CI job. */
function planOutputs({ stack, digest, changes, guards }: Plan): Readonly<Record<string, string>> {
  const counts = Object.entries(countActions(changes)).map(([action, count]) => [action, String(count)]);
  return {
    stack,
    digest,
    changes: String(changes.length),
    ...Object.fromEntries(counts),
    acknowledge: blockingIds(guards).join(','),
  };
}
