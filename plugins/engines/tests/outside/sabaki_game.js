// A game and analysis through Sabaki's own GTP client; see test_engine_clients.py.
// node sabaki_game.js FOLDER-OF-@sabaki/gtp PROGRAM ARGUMENTS... prints one JSON object.
const {Controller, ControllerStateTracker} = require(process.argv[2])

const main = async () => {
  const engine = new Controller(process.argv[3], process.argv.slice(4))
  const tracker = new ControllerStateTracker(engine)
  const found = {moves: [], analysis: [], chosen: []}
  const ask = async (name, args, hear) => {
    const response = await engine.sendCommand({name, args}, hear)
    if (response.error) throw new Error(`${name} ${args}: ${response.content}`)
    return response.content
  }
  engine.start()
  found.name = await ask('name', [])
  found.commands = (await ask('list_commands', [])).split('\n')
  await ask('boardsize', ['5'])
  await ask('komi', ['2.5'])
  await ask('clear_board', [])
  // analysis while nobody moves, ended by the next command as in Sabaki
  let enough
  const heard = new Promise(resolve => (enough = resolve))
  const ends = engine.sendCommand({name: 'lz-analyze', args: ['B', '5']}, ({line}) => {
    if (line.startsWith('info ')) found.analysis.push(line)
    if (found.analysis.length === 3 || line.startsWith('?')) enough() // some players have no search to show
  })
  await heard
  await ask('protocol_version', [])
  await ends
  const line = []
  for (let i = 0; i < 60; i++) {
    const colour = 'BW'[i % 2]
    let move
    if (i % 4 < 2) {
      const lines = []
      await ask('genmove_analyze', [colour, '5'], ({line}) => lines.push(line))
      move = lines.find(text => text.startsWith('play ')).slice(5)
      found.chosen.push(lines.filter(text => text.startsWith('info ')).length)
    } else {
      move = await ask('genmove', [colour])
    }
    found.moves.push(move)
    if (move.toLowerCase() === 'pass' && (found.moves[i - 1] || '').toLowerCase() === 'pass') break
  }
  found.score = await ask('final_score', [])
  found.tracked = tracker.state.history.length
  // Sabaki brings an engine to another position by itself
  await tracker.sync({komi: 2.5, boardsize: [5, 5], timeSettings: null,
    history: [{name: 'play', args: ['B', 'C3']}, {name: 'play', args: ['W', 'C4']}]})
  found.board = await ask('showboard', [])
  await engine.stop()
  console.log(JSON.stringify(found))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
