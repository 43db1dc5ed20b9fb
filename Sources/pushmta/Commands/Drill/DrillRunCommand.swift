import ArgumentParser
import Foundation
import PushCore

/// `pushmta drill run`.
struct DrillRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a drill, all of them, or the short set.",
        discussion: """
            Each drill starts a private PostgreSQL cluster, the gateway simulator and real supervisors and children, does its \
            damage while at least \(DrillFault.leastStreams) requests are open, and ends with an account by message id: what the \
            database says against what the gateway recorded. Everything is removed at the end, also after a failure. Exit status \
            0 only if all passed; the seed repeats the random choices of a run. A drill that this machine has no means for does \
            not pass and says why. What this build, or another gateway than the simulator, cannot do at all is left out of all \
            and short, and named on standard error; by its own name it does not pass. The short set needs no root and judges no \
            times, only what became of each message. The line of JSON of a drill that did not pass has the further key reason, \
            which says everything that was wrong.
            """
    )

    private static let largestSeed = UInt64(Int64.max) - 1_000_000

    @Argument(help: "The drill's name, all, or short.")
    var name: String

    @Option(help: "The seed of all random choices; without one, a random seed. Printed in any case.")
    var seed: UInt64?

    @Option(help: "The messages of each delivery, instead of the drill's own number.")
    var messages: Int64?

    @Option(help: "How often each drill runs; the seed counts up.")
    var `repeat` = 1

    @Option(help: "How long the outages of gateway-outage last, in seconds.")
    var outage = 30

    @Flag(help: "Print a line of JSON for each run.")
    var json = false

    @Flag(help: "Keep the folder with database, record, logs and the account of every message.")
    var keep = false

    @OptionGroup
    var gateway: ExternalGatewayOptions

    func validate() throws {
        if let messages, !(1...100_000_000).contains(messages) {
            throw ValidationError("--messages is \(messages): give a number from 1 to 100000000.")
        }
        // Every reader of JSON takes such a number, also when it has counted up.
        if let seed, seed > Self.largestSeed {
            throw ValidationError("--seed is \(seed): give a number from 0 to \(Self.largestSeed).")
        }
        guard (5...86_400).contains(outage) else {
            throw ValidationError("--outage is \(outage): give a number of seconds from 5 to 86400.")
        }
        guard (1...1_000_000).contains(`repeat`) else {
            throw ValidationError("--repeat is \(`repeat`): give a number from 1 to 1000000.")
        }
        try gateway.check()
    }

    func run() async throws {
        do {
            let external = try gateway.gateway()
            let drills = possible(try DrillCatalog.drills(for: name), external)
            let command = self
            let passed = try await UntilSignal.run { try await command.run(drills, external) }
            guard let passed else { throw ExitCode(CommandFailure.interruptedStatus) }
            guard passed else { throw ExitCode(CommandFailure.Code.negative.rawValue) }
        } catch {
            throw CommandFailure.report(error)
        }
    }

    /// The drills of a set without those that cannot run here, whatever the machine has; one that was named stays.
    private func possible(_ drills: [any Drill], _ external: ExternalGateway?) -> [any Drill] {
        guard name == DrillCatalog.everything || name == DrillCatalog.short else { return drills }
        return drills.filter { drill in
            let obstacle = DrillCatalog.impossibility(
                drill,
                hasSimulator: external == nil,
                hasCrashPoints: CrashPoint.isCompiledIn
            )
            if let obstacle { StandardError.write("\(drill.name) is left out: \(obstacle)\n") }
            return obstacle == nil
        }
    }

    /// Runs the drills one after the other.
    ///
    /// - Returns: Whether all passed.
    private func run(_ drills: [any Drill], _ external: ExternalGateway?) async throws -> Bool {
        await DrillFolder.clearLeftovers()
        // A number that every reader of JSON takes without loss.
        let first = seed ?? UInt64.random(in: 1...1 << 53)
        var table = Table(DrillResult.columns)
        var reasons: [String] = []
        var passed = true
        for round in 0..<UInt64(`repeat`) {
            for drill in drills {
                try Task.checkCancellation()
                var options = DrillOptions(seed: first &+ round, messages: messages, keeps: keep, gateway: external)
                options.outageSeconds = outage
                if name == DrillCatalog.short {
                    options.hasTimes = false
                    options.messages = messages ?? DrillCatalog.shortMessages
                }
                let result = try await DrillRunner(drill: drill, options: options).run()
                passed = passed && result.passed
                if json { StandardOutput.line(result.json) }
                table.add(result.cells)
                reasons += result.reasons.map { "\(result.drill), seed \(result.seed): \($0)" }
            }
        }
        if !json { StandardOutput.line(([table.text] + reasons).joined(separator: "\n")) }
        return passed
    }
}
