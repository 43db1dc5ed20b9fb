import Administration
import ArgumentParser
import Foundation
import PushCore

package struct DrillCommand: AsyncParsableCommand {
    package init() {}

    package static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Prove on this machine that nothing is lost, whatever dies.",
        subcommands: [DrillListCommand.self, DrillRunCommand.self]
    )
}

struct DrillListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "List the drills.")

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        var table = Table(["drill", "short", "messages", "faults", "what_it_does", "must_end_with"])
        for drill in DrillCatalog.all {
            table.add([
                .text(drill.name), .flag(drill.isShort), .integer(drill.messages), Cell(drill.minimumFaults),
                .text(drill.summary),
                .text(drill.promise),
            ])
        }
        table.show(json: json)
    }
}

struct DrillRunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a drill, all of them, or the short set.",
        discussion: """
            Each drill starts a private PostgreSQL cluster, the gateway simulator and real supervisors and children, does its \
            damage while at least \(DrillFault.leastStreams) requests are open, and ends with a reconciliation by message id: what the \
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

/// The flags that name another gateway than the simulator.
struct ExternalGatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Another APNs gateway than the simulator.", valueName: "host:port"))
    var apns: String?

    @Option(help: ArgumentHelp("Another FCM gateway than the simulator.", valueName: "host:port"))
    var fcm: String?

    @Option(help: ArgumentHelp("The PEM file of its certificate authority.", valueName: "file"))
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "The file in which it records each push as a line {\"id\",\"status\",\"time\"}.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(help: ArgumentHelp("The .p8 key that its APNs accepts.", valueName: "file"))
    var apnsKey: String?

    @Option(help: ArgumentHelp("The id of that key.", valueName: "id"))
    var apnsKeyID: String?

    @Option(help: ArgumentHelp("The team of that key.", valueName: "id"))
    var apnsTeamID: String?

    @Option(help: ArgumentHelp("The topic (bundle id) that its APNs accepts.", valueName: "topic"))
    var apnsTopic = "com.example.app"

    @Option(help: ArgumentHelp("The service account file that its FCM accepts.", valueName: "file"))
    var fcmServiceAccount: String?

    /// Refuses a part of a gateway.
    func check() throws {
        let places = [apns, fcm, ca, record].compactMap { $0 }
        let credentials = [apnsKey, apnsKeyID, apnsTeamID, fcmServiceAccount].compactMap { $0 }
        guard places.isEmpty || places.count == 4 else {
            throw ValidationError("Another gateway needs all of --apns, --fcm, --ca and --record.")
        }
        guard credentials.isEmpty || (credentials.count == 4 && !places.isEmpty) else {
            throw ValidationError(
                "The credentials of another gateway are all of --apns-key, --apns-key-id, --apns-team-id and "
                    + "--fcm-service-account; leave out all of them if it accepts any."
            )
        }
    }

    /// The gateway; `nil` if none was named.
    func gateway() throws -> ExternalGateway? {
        guard let apns, let fcm, let ca, let record else { return nil }
        return ExternalGateway(
            apns: try Self.address(apns),
            fcm: try Self.address(fcm),
            ca: Self.path(ca),
            recordFile: Self.path(record),
            credentials: credentials
        )
    }

    private var credentials: SimulatorReport.Credentials? {
        guard let apnsKey, let apnsKeyID, let apnsTeamID, let fcmServiceAccount else { return nil }
        return SimulatorReport.Credentials(
            apns: SimulatorReport.APNsCredentials(
                keyFile: Self.path(apnsKey),
                keyId: apnsKeyID,
                teamId: apnsTeamID,
                topics: [apnsTopic]
            ),
            fcm: SimulatorReport.FCMCredentials(serviceAccountFile: Self.path(fcmServiceAccount), projectId: "")
        )
    }

    private static func address(_ text: String) throws -> SimulatorReport.Address {
        guard let colon = text.lastIndex(of: ":"), let port = Int32(text[text.index(after: colon)...]),
            (1...65_535).contains(port), colon != text.startIndex
        else { throw CommandFailure(.data, "\(text) is no address: give HOST:PORT.") }
        return SimulatorReport.Address(host: String(text[..<colon]), port: port)
    }

    /// The processes of a drill have another working folder.
    private static func path(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
