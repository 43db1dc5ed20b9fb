// pushmta-lab: drills, benches and quickstart, in a program of its own that no production host needs.
//
// WHAT IT DOES
//   Hands over to the command line (CommandLineProgram). What the commands do is in Laboratory.
//
// HOW IT IS USED
//   quickstart makes a site to try, drill one with faults, bench one to measure. Each has a PostgreSQL of its own, and starts pushmta and
//   gateway-simulator, which lie beside it.
//
// STATE AND FILES
//   Those of Laboratory: a folder a site.
//
// FAILURES
//   Exit codes as those of pushmta.
//
// SEE ALSO
//   Sources/Laboratory/TestSite/TestSite.swift, Deploy/quickstart, Deploy/guide/drills.md, Deploy/guide/benchmarks.md

import Administration
import ArgumentParser
import Laboratory

@main
struct PushMTALab: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pushmta-lab",
        abstract: "Sites to try, to break and to measure PushMTA, each with its own PostgreSQL and gateways.",
        version: ProductVersion.text,
        subcommands: [QuickstartCommand.self, DrillCommand.self, BenchCommand.self]
    )

    static func main() async { await CommandLineProgram.run(PushMTALab.self) }
}
