// gateway-simulator: the program around the module GatewaySimulator.
//
// WHAT IT DOES
//   Reads the command line, starts a simulator, says where it listens and which credentials it accepts, waits for a signal,
//   and ends with a line of counters.
//
// HOW IT IS USED
//   gateway-simulator --state FOLDER, by people, by TestSimulator of the laboratory and by tests of other languages. --json
//   prints the addresses and credentials as one line first (StartReport); without it they are a few lines for people. Ports
//   of 0, the default, are free ones, which ports.json in the state folder names when all is ready. FaultOptions has the
//   faults that are on from the start; later ones go to the control port.
//
// THREADS AND TASKS
//   The main task waits for EndSignals, which turns SIGTERM and SIGINT into something to await; all else is the module's.
//
// STATE AND FILES
//   The state folder and the record file of the module. Nothing of its own.
//
// FAILURES
//   Exit status 0 after SIGTERM or SIGINT, 1 if it cannot start (the reason on standard error), 64 for a wrong command line,
//   which is found before anything is opened.
//
// SEE ALSO
//   FaultOptions.swift, StartReport.swift, Sources/GatewaySimulator/GatewaySimulator.swift

import ArgumentParser
import Dispatch
import Foundation
import GatewaySimulator
import OperatingSystem

/// The command line of the simulator: starts it, says where it is, and waits for a signal to end.
@main
struct GatewaySimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-simulator",
        abstract: "Plays APNs (HTTP/2, binary), FCM (HTTP v1, legacy) and Google's token endpoint on this machine.",
        discussion: """
            Certificates and credentials are made in the state folder at the first start and used again later. SIGTERM or \
            Ctrl-C ends it; the exit status is then 0. It is 1 when it cannot start and 64 when the command line is wrong.
            """
    )

    @Option(help: ArgumentHelp("Folder for CA, credentials and ports.json.", valueName: "folder"))
    var state: String

    @Option(help: "Address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "Port of the APNs gateway; 0 takes a free one.")
    var apnsPort = 0

    @Option(help: "Port of the FCM gateway; 0 takes a free one.")
    var fcmPort = 0

    @Option(help: "Port of the legacy FCM gateway; 0 takes a free one.")
    var fcmLegacyPort = 0

    @Option(help: "Port of the binary APNs gateway; 0 takes a free one.")
    var apnsBinaryPort = 0

    @Option(help: "Port of the binary APNs gateway's feedback service; 0 takes a free one.")
    var apnsFeedbackPort = 0

    @Option(help: "Port of the OAuth 2.0 token endpoint; 0 takes a free one.")
    var oauthPort = 0

    @Option(help: "Port for control, plain HTTP; 0 takes a free one.")
    var controlPort = 0

    @Option(help: "Address of the port for control, which obeys everybody who reaches it.")
    var controlHost = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "Where the ports are written when all is ready (default: ports.json in the state folder).",
            valueName: "file"
        )
    )
    var portFile: String?

    @Option(help: "Another name or address that the certificate covers; may be repeated.")
    var certificateName: [String] = []

    @Option(help: "Event loop threads.")
    var threads = 1

    @Option(
        help: "A topic that the sample key may send to (default: com.example.app); may be repeated, \"*\" allows any."
    )
    var topic: [String] = []

    @Option(help: "The Firebase project.")
    var projectID = "pushmta-simulator"

    @Flag(help: "Play APNs' development environment, with apns-unique-id in answers.")
    var sandbox = false

    @Flag(
        name: .customLong("string-iat"),
        help: "APNs takes provider tokens whose iat is a text, as APNSwift writes it."
    )
    var takesStringIssuedAt = false

    @Flag(help: "Every APNs device belongs to the other environment, until the control port says otherwise.")
    var otherEnvironment = false

    @Option(help: "Lifetime of access tokens, in seconds.")
    var tokenLifetime = 3600

    @Option(
        help: ArgumentHelp(
            "File that gets a JSON line {\"id\",\"gateway\",\"status\",\"reason\",\"time\",\"answered\"} for each push.",
            valueName: "file"
        )
    )
    var record: String?

    @Flag(help: "Print ports, CA and credentials as one JSON line first.")
    var json = false

    @OptionGroup(title: "Faults")
    var faults: FaultOptions

    func validate() throws {
        let ports = [apnsPort, fcmPort, fcmLegacyPort, apnsBinaryPort, apnsFeedbackPort, oauthPort, controlPort]
        for port in ports where !(0...65_535).contains(port) {
            throw ValidationError("\(port) is no port: 0 to 65535")
        }
        guard (1...64).contains(threads) else { throw ValidationError("threads must be 1 to 64") }
        guard tokenLifetime > 0 else { throw ValidationError("the token lifetime must be above 0 seconds") }
        _ = try faults.plans()
        _ = try faults.devices()
    }

    func run() async throws {
        MemoryAllocator.joinFreedPieces()
        let signals = EndSignals()
        let simulator: GatewaySimulator
        do {
            simulator = try await GatewaySimulator.start(try options())
        } catch {
            try? FileHandle.standardError.write(contentsOf: Data("gateway-simulator: \(error)\n".utf8))
            throw ExitCode.failure
        }
        let report = StartReport(simulator, host: host, controlHost: controlHost)
        write(json ? report.json : report.text)
        await signals.wait()
        let counters = simulator.counters()
        await simulator.stop()
        write(report.summary(counters))
    }

    private func options() throws -> GatewaySimulatorOptions {
        var options = GatewaySimulatorOptions(stateFolder: URL(fileURLWithPath: state).path)
        options.host = host
        options.certificateNames = certificateName
        options.apnsPort = apnsPort
        options.fcmPort = fcmPort
        options.fcmLegacyPort = fcmLegacyPort
        options.apnsBinaryPort = apnsBinaryPort
        options.apnsFeedbackPort = apnsFeedbackPort
        options.oauthPort = oauthPort
        options.controlPort = controlPort
        options.controlHost = controlHost
        options.portFile = portFile
        options.threads = threads
        if !topic.isEmpty { options.apnsTopics = topic.contains("*") ? [] : topic }
        options.projectID = projectID
        options.takesStringIssuedAt = takesStringIssuedAt
        options.isSandbox = sandbox
        options.accessTokenLifetimeSeconds = tokenLifetime
        options.recordFile = record
        options.devicesAreOfOtherEnvironment = otherEnvironment
        options.faults = try faults.plans()
        options.devices = try faults.devices()
        return options
    }

    /// Writes past any buffer, so that a reader of a file or a pipe sees the line at once.
    private func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// SIGTERM and SIGINT as something to wait for.
private struct EndSignals {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Catches the signals from now on.
    init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        self.stream = stream
        sources = [SIGTERM, SIGINT].map { number in
            // The default action would end the process before the source sees the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
    }

    /// Returns when one of them has come.
    func wait() async {
        for await _ in stream { return }
    }
}
