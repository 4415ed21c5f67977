// Runs "trueup drift" for each stack, and keeps one issue with the label "trueup-drift": opened on drift, updated each night, closed
// when there is none left. Fails if a stack cannot be read.
import { spawnSync } from 'node:child_process';

const label = 'trueup-drift';
const title = 'Drift: changes that are not in the manifests';
const longest = 60_000;
const { GITHUB_API_URL = '', GITHUB_REPOSITORY = '', GITHUB_TOKEN = '' } = process.env;

const reports = process.argv.slice(2).map((stack) => {
  const { status, stdout, stderr } = spawnSync('trueup', ['drift', stack, '--format', 'markdown'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  console.log(`${stack}: exit code ${status}\n${stdout ?? ''}${stderr ?? ''}`);
  return { stack, status, text: stdout ?? '' };
});

async function ask(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, {
    method,
    redirect: 'error',
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

const drifted = reports.filter(({ status }) => status === 3);
const failed = reports.filter(({ status }) => status !== 0 && status !== 3);
const issues = await ask('GET', `issues?state=open&labels=${label}&per_page=100`);
const open = issues.find((issue) => issue.pull_request === undefined);

if (drifted.length > 0) {
  const whole = drifted.map(({ stack, text }) => `## ${stack}\n\n${text}`).join('\n\n');
  const body = whole.length > longest ? `${whole.slice(0, longest)}\n\n… The log of the job has the rest.` : whole;
  if (open === undefined) await ask('POST', 'issues', { title, body, labels: [label] });
  else await ask('PATCH', `issues/${open.number}`, { body });
} else if (open !== undefined && failed.length === 0) {
  await ask('PATCH', `issues/${open.number}`, { state: 'closed', state_reason: 'completed' });
}
if (failed.length > 0) {
  console.error(`not read: ${failed.map(({ stack }) => stack).join(', ')}`);
  process.exitCode = 1;
}
