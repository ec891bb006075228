/* The ad network's work with the node driver: node client.js HOST PORT VERSION NAME USER PASSWORD
 * [through]. */
'use strict';
const assert = require('assert');
const crypto = require('crypto');
const cassandra = require('cassandra-driver');

const [host, port, version, name, user, password, mode] = process.argv.slice(2);
const CLICKS = 1000;
const WORKERS = 32;
const PATIENCE_MS = 120000;
const KEYSPACE = `CREATE KEYSPACE ${name} WITH replication = ` +
  "{'class': 'SimpleStrategy', 'replication_factor': 1}";
const CLICK = 'INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, click_id, amount) ' +
  'VALUES (?, ?, ?, ?, ?, ?)';
const { types } = cassandra;

async function until(what, condition) {
  for (let i = 0; i < 200; i++) {
    if (await condition()) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  assert.fail(`never came: ${what}`);
}

function connect(secret) {
  return new cassandra.Client({
    contactPoints: [`${host}:${port}`], localDataCenter: 'datacenter1',
    credentials: { username: user, password: secret },
    policies: { reconnection: new cassandra.policies.reconnection.ConstantReconnectionPolicy(1000) },
    protocolOptions: { maxVersion: Number(version) } });
}

function click(number) {
  return [name, '2013-11-28', new Date(1385654400000 + number), `${name}-ad`,
    types.Long.fromNumber(-1 - number), types.BigDecimal.fromString('0.005')];
}

async function counted(client) {
  const row = (await client.execute(
    'SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?', [name],
    { prepare: true })).first();
  return Number(row.clicks);
}

async function schema(client, other) {
  await client.execute(KEYSPACE);
  await client.execute(`CREATE TABLE ${name}.notes (id int, at timestamp, tags set<text>, ` +
    'marks map<text, int>, PRIMARY KEY (id, at)) WITH CLUSTERING ORDER BY (at DESC)');
  await client.batch([
    { query: `INSERT INTO ${name}.notes (id, at, tags) VALUES (?, ?, ?)`,
      params: [1, new Date(1385654400123), ['b', 'a']] },
    { query: `INSERT INTO ${name}.notes (id, at, marks) VALUES (?, ?, ?)`,
      params: [1, new Date(1385654400124), { one: 1 }] },
  ], { prepare: true });
  const rows = (await client.execute(`SELECT * FROM ${name}.notes`)).rows;
  assert.deepStrictEqual(rows.map(row => row.at.getTime()), [1385654400124, 1385654400123]);
  assert.deepStrictEqual(rows[0].marks, { one: 1 });
  assert.deepStrictEqual(rows[1].tags, ['a', 'b']);
  const table = await client.metadata.getTable(name, 'notes');
  assert.deepStrictEqual(table.partitionKeys.map(column => column.name), ['id']);
  assert.strictEqual(table.columns.length, 4);
  await until('an event that tells of the keyspace', () => other.metadata.keyspaces[name]);
}

async function clicks(client) {
  const rows = Array.from({ length: CLICKS }, (_, i) => click(i));
  const sent = await cassandra.concurrent.executeConcurrent(client, CLICK, rows,
    { concurrencyLevel: 64 });
  assert.deepStrictEqual(sent.errors, []);
  let read = 0;
  const select = 'SELECT amount FROM daybook.ad_click WHERE reseller_id = ? AND day = ?';
  await new Promise((resolve, reject) => client.eachRow(select, [name, '2013-11-28'],
    { prepare: true, fetchSize: 70, autoPage: true }, (n, row) => {
      assert.strictEqual(row.amount.toString(), '0.005');
      read++;
    }, error => error ? reject(error) : resolve()));
  assert.strictEqual(read, CLICKS);
  assert.strictEqual(await counted(client), CLICKS);
}

async function rate(client, value, amount) {
  await client.execute('INSERT INTO daybook.reseller (id, effective_since, reward_percent) ' +
    'VALUES (?, ?, ?)', [name, '2013-11-01', types.BigDecimal.fromString(value)], { prepare: true });
  await until(`an amount of ${amount}`, async () => {
    const day = (await client.execute('SELECT clicks, amount FROM daybook.amount_by_day ' +
      'WHERE reseller_id = ? AND day = ?', [name, '2013-11-28'], { prepare: true })).first();
    return day && day.amount && Number(day.clicks) === CLICKS && Number(day.amount) === amount;
  });
}

/* Clicks, each with an increment under a request id, until the input ends, through whatever happens
 * to the server meanwhile; then each must have been counted once. */
async function through(client) {
  let ended = false, sent = 0, again = 0;
  const hits = `${name}.hits`;
  const insist = async (query, params, options) => {
    for (const started = Date.now(); ; again++) {
      try {
        return await client.execute(query, params, options);
      } catch (error) {
        if (Date.now() - started > PATIENCE_MS) throw error;
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    }
  };
  const work = async () => {
    while (!ended) {
      const request = crypto.randomBytes(16);
      await insist(CLICK, click(sent++), { prepare: true });
      await insist(`UPDATE ${hits} SET hits = hits + 1 WHERE id = 'all'`, [],
        { customPayload: { 'daybook-request-id': request } });
      await new Promise(resolve => setTimeout(resolve, 10));
    }
  };
  await client.execute(KEYSPACE);
  await client.execute(`CREATE TABLE ${hits} (id text PRIMARY KEY, hits counter)`);
  process.stdin.resume();
  process.stdin.on('end', () => { ended = true; });
  console.log('streaming');
  await Promise.all(Array.from({ length: WORKERS }, work));
  console.log(`${sent} sent, ${again} sent again`);
  assert.strictEqual(await counted(client), sent);
  const count = (await client.execute(`SELECT hits FROM ${hits}`)).first();
  assert.strictEqual(Number(count.hits), sent);
}

async function main() {
  const client = connect(password);
  await client.connect();
  if (mode === 'through') {
    await through(client);
  } else {
    const other = connect(password);
    await other.connect();
    const stranger = connect('wrong');
    await assert.rejects(stranger.connect(), error => Object.values(error.innerErrors)
      .every(inner => inner instanceof cassandra.errors.AuthenticationError));
    await stranger.shutdown();
    await schema(client, other);
    await clicks(client);
    await rate(client, '0.2', 1);
    await rate(client, '0.25', 1.25);
    await assert.rejects(client.execute('SELECT * FROM daybook.nothing'), { code: 0x2200 });
    await other.shutdown();
  }
  await client.shutdown();
}

/* The driver keeps a timer after it has connected again. */
main().then(() => process.exit(0), error => { console.error(error); process.exit(1); });
