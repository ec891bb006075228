/* The ad network's work with the node driver: node client.js HOST PORT VERSION NAME. */
'use strict';
const assert = require('assert');
const cassandra = require('cassandra-driver');

const [host, port, version, name] = process.argv.slice(2);
const CLICKS = 1000;
const { types } = cassandra;

async function until(what, condition) {
  for (let i = 0; i < 200; i++) {
    if (await condition()) return;
    await new Promise(resolve => setTimeout(resolve, 50));
  }
  assert.fail(`never came: ${what}`);
}

async function schema(client) {
  await client.execute(`CREATE KEYSPACE ${name} WITH replication = ` +
    "{'class': 'SimpleStrategy', 'replication_factor': 1}");
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
}

async function clicks(client) {
  const insert = 'INSERT INTO daybook.ad_click (reseller_id, day, time, ad_id, click_id, amount) ' +
    'VALUES (?, ?, ?, ?, ?, ?)';
  const rows = Array.from({ length: CLICKS }, (_, i) => [name, '2013-11-28',
    new Date(1385654400000 + i), `${name}-ad`, types.Long.fromNumber(-1 - i),
    types.BigDecimal.fromString('0.005')]);
  const sent = await cassandra.concurrent.executeConcurrent(client, insert, rows,
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
  const count = await client.execute(
    'SELECT clicks FROM daybook.clicks_per_reseller WHERE reseller_id = ?', [name],
    { prepare: true });
  assert.strictEqual(count.first().clicks.toString(), String(CLICKS));
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

async function main() {
  const client = new cassandra.Client({
    contactPoints: [`${host}:${port}`], localDataCenter: 'datacenter1',
    protocolOptions: { maxVersion: Number(version) } });
  await client.connect();
  await schema(client);
  await clicks(client);
  await rate(client, '0.2', 1);
  await rate(client, '0.25', 1.25);
  await assert.rejects(client.execute('SELECT * FROM daybook.nothing'), { code: 0x2200 });
  await client.shutdown();
}

main().catch(error => { console.error(error); process.exit(1); });
