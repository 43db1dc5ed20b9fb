import Administration
import ArgumentParser
import Foundation
import PushCore

package struct DrillCommand: AsyncParsableCommand {
    package init() {}

    package static let configuration = CommandConfiguration(
        commandName: "drill",
        abstract: "Prove on this machine that no message is lost, whatever fails.",
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
            Each drill starts a private PostgreSQL cluster, the gateway simulator, and real supervisors and children. \
            It injects its faults while at least \(DrillFault.minStreams) requests are open. It ends with a \
            reconciliation by message id of the database against the gateway's record. Everything is removed at the \
            end, also after a failure. The exit status is 0 only if all drills passed. The seed repeats a run's random \
            choices. A drill whose needs this machine does not meet does not pass, and says why. The sets all and \
            short skip drills that this build or an external gateway cannot run, and name them on standard error. \
            Selected by name, such a drill does not pass. The short set does not need root, and checks message \
            outcomes but no times. The JSON line of a drill that did not pass has the extra key reason, which lists \
            everything that was wrong.
            """
    )

    private static let maxSeed = UInt64(Int64.max) - 1_000_000

    @Argument(help: "A drill's name, all, or short.")
    var name: String

    @Option(help: "The seed for all random choices; random by default. It is always printed.")
    var seed: UInt64?

    @Option(help: "The number of messages in each delivery; by default the drill's own number.")
    var messages: Int64?

    @Option(help: "How many times to run each drill; the seed increases by 1 each time.")
    var `repeat` = 1

    @Option(help: "The duration of each outage of gateway-outage, in seconds.")
    var outage = 30

    @Flag(help: "Print one line of JSON per run.")
    var json = false

    @Flag(help: "Keep the folder with the database, the record, the logs and the reconciliation.")
    var keep = false

    @OptionGroup
    var gateway: ExternalGatewayOptions

    func validate() throws {
        if let messages, !(1...100_000_000).contains(messages) {
            throw ValidationError("--messages is \(messages): give a number from 1 to 100000000.")
        }
        // JSON readers represent such a number exactly, even after it has been increased.
        if let seed, seed > Self.maxSeed {
            throw ValidationError("--seed is \(seed): give a number from 0 to \(Self.maxSeed).")
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

    /// A set without the drills that this build or gateway cannot run. A drill selected by name stays.
    private func possible(_ drills: [any Drill], _ external: ExternalGateway?) -> [any Drill] {
        guard name == DrillCatalog.everything || name == DrillCatalog.short else { return drills }
        return drills.filter { drill in
            let obstacle = DrillCatalog.impossibility(
                drill,
                hasSimulator: external == nil,
                hasCrashPoints: CrashPoint.isCompiledIn
            )
            if let obstacle { StandardError.write("\(drill.name) is skipped: \(obstacle)\n") }
            return obstacle == nil
        }
    }

    /// Runs the drills one after another.
    ///
    /// - Returns: Whether all passed.
    private func run(_ drills: [any Drill], _ external: ExternalGateway?) async throws -> Bool {
        await DrillFolder.clearLeftovers()
        // JSON readers represent numbers up to 2^53 exactly.
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

/// The options that name a gateway to use instead of the simulator.
struct ExternalGatewayOptions: ParsableArguments {
    @Option(help: ArgumentHelp("An APNs gateway to use instead of the simulator.", valueName: "host:port"))
    var apns: String?

    @Option(help: ArgumentHelp("An FCM gateway to use instead of the simulator.", valueName: "host:port"))
    var fcm: String?

    @Option(help: ArgumentHelp("The PEM file of the gateway's certificate authority.", valueName: "file"))
    var ca: String?

    @Option(
        help: ArgumentHelp(
            "The file to which it writes each push as a line {\"id\",\"status\",\"time\"}.",
            valueName: "file"
        )
    )
    var record: String?

    @Option(help: ArgumentHelp("The .p8 key file that the APNs gateway accepts.", valueName: "file"))
    var apnsKey: String?

    @Option(help: ArgumentHelp("The key id of that key.", valueName: "id"))
    var apnsKeyID: String?

    @Option(help: ArgumentHelp("The team id of that key.", valueName: "id"))
    var apnsTeamID: String?

    @Option(help: ArgumentHelp("The topic (bundle id) that the APNs gateway accepts.", valueName: "topic"))
    var apnsTopic = "com.example.app"

    @Option(help: ArgumentHelp("The service account file that the FCM gateway accepts.", valueName: "file"))
    var fcmServiceAccount: String?

    /// Rejects an incomplete set of gateway options.
    func check() throws {
        let places = [apns, fcm, ca, record].compactMap { $0 }
        let credentials = [apnsKey, apnsKeyID, apnsTeamID, fcmServiceAccount].compactMap { $0 }
        guard places.isEmpty || places.count == 4 else {
            throw ValidationError("An external gateway needs all of --apns, --fcm, --ca and --record.")
        }
        guard credentials.isEmpty || (credentials.count == 4 && !places.isEmpty) else {
            throw ValidationError(
                "An external gateway's credentials need all of --apns-key, --apns-key-id, --apns-team-id and "
                    + "--fcm-service-account. If the gateway accepts any credentials, omit all four."
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
        else { throw CommandFailure(.data, "\(text) is not an address: give HOST:PORT.") }
        return SimulatorReport.Address(host: String(text[..<colon]), port: port)
    }

    /// An absolute path: a drill's processes have another working folder.
    private static func path(_ path: String) -> String { URL(fileURLWithPath: path).standardizedFileURL.path }
}
