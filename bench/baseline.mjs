/**
 * The least that a program can do: it fetches and parses the pages of a list, sends creates, or parses YAML files, and does nothing
 * with the result. `node bench/baseline.mjs pages URL | creates URL COUNT | yaml FOLDER`
 */
const [what, where, count] = process.argv.slice(2);
const headers = {
  authorization: `Bearer ${process.env['API_TOKEN']}`,
  'content-type': 'application/vnd.api+json',
};

async function pages() {
  const list = `${where}/api/v2/organizations/acme/workspaces?include=effective_tag_bindings&page%5Bsize%5D=100`;
  for (let page = 1; page !== null; ) {
    const answer = await fetch(`${list}&page%5Bnumber%5D=${page}`, { headers });
    const { meta } = JSON.parse(await answer.text());
    page = meta.pagination['next-page'];
  }
}

/** As many at once as trueup sends. */
async function creates() {
  let next = 0;
  const send = async () => {
    while (next < Number(count)) {
      const attributes = { name: `new-${String(next++).padStart(5, '0')}`, 'source-name': 'trueup/bench' };
      const body = JSON.stringify({ data: { type: 'workspaces', attributes } });
      const answer = await fetch(`${where}/api/v2/organizations/acme/workspaces`, {
        method: 'POST',
        headers,
        body,
      });
      if (answer.status !== 201) throw new Error(`${answer.status} ${await answer.text()}`);
      JSON.parse(await answer.text());
    }
  };
  await Promise.all(Array.from({ length: 10 }, send));
  await pages();
}

async function yaml() {
  const { readdirSync, readFileSync } = await import('node:fs');
  const { loadAll } = await import('js-yaml');
  for (const name of readdirSync(where)) loadAll(readFileSync(`${where}/${name}`, 'utf8'));
}

await { pages, creates, yaml }[what]();
