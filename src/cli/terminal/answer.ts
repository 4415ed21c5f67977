/**
 * The end of a command: writes its answer in the format that was asked for. There is always one, even when there are only errors. As text
 * everything has been printed by then, so that this is not even loaded.
 */
import { renderDiagnosticsJson } from '../../report/json/diagnostics-json.ts';
import { renderDiagnosticsMarkdown } from '../../report/markdown/diagnostics-markdown.ts';
import { renderSarif } from '../../report/sarif/sarif.ts';
import type { ExitCode } from '../exit-codes.ts';
import { repositoryPath } from '../github/repository-path.ts';
import { reportToGithub } from '../github/report-to-github.ts';
import { type Terminal, tellEnd } from './terminal.ts';

export async function answerAtEnd(terminal: Terminal, code: ExitCode): Promise<void> {
  const { format, host, pending, events } = terminal;
  tellEnd(terminal, code);
  const { answer, said, outcomes } = pending;
  if (format === 'jsonl') events?.write({ type: 'ended', exitCode: code, ...(outcomes && { outcomes }) });
  else if (format === 'github') reportToGithub(terminal, code, await answerText(terminal));
  // A diagram has no room for problems: stderr has them.
  else if (answer !== undefined || (hasSomethingToTell(terminal, said) && format !== 'mermaid'))
    host.stdout.write(`${await answerText(terminal)}\n`);
}

/** Nothing after a help text or a version, which are printed as text. */
function hasSomethingToTell({ reported }: Terminal, said: string | undefined): boolean {
  return said !== undefined || reported.length > 0;
}

async function answerText({ format, host, reported, pending }: Terminal): Promise<string> {
  const told = host.clean(reported);
  if (pending.answer !== undefined) return pending.answer(format === 'json' ? reported : told);
  switch (format) {
    case 'markdown':
    case 'github':
      return renderDiagnosticsMarkdown(told, pending.said ?? 'Nothing was found');
    case 'html': {
      const { renderDiagnosticsHtml } = await import('../../report/html/diagnostics-html.ts');
      return renderDiagnosticsHtml(told, pending.said ?? 'Nothing was found');
    }
    case 'sarif':
      return renderSarif(told, {
        version: host.version,
        stackFile: pending.stackFile ?? 'trueup.yaml',
        pathOf: (file) => repositoryPath(file, host),
      });
    default:
      return renderDiagnosticsJson(reported);
  }
}
