// pushmta-lab: drills, benches and quickstart, in a separate program that production hosts do not need.
//
// WHAT IT DOES
//   Runs the command line (CommandLineProgram). The commands are in Laboratory.
//
// HOW IT IS USED
//   quickstart runs a site to try, drill one with faults, and bench one to measure. Each has its own PostgreSQL, and
//   starts pushmta and gateway-simulator from this program's folder.
//
// STATE AND FILES
//   Those of Laboratory: one folder per site.
//
// FAILURES
//   The exit codes are those of pushmta.
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
        abstract: "Try, break and measure PushMTA on sites that have their own PostgreSQL and gateways.",
        version: ProductVersion.text,
        subcommands: [QuickstartCommand.self, DrillCommand.self, BenchCommand.self]
    )

    static func main() async { await CommandLineProgram.run(PushMTALab.self) }
}
