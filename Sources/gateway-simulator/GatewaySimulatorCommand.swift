// gateway-simulator: the command-line program for the module GatewaySimulator.
//
// WHAT IT DOES
//   Reads the command line, starts a simulator, prints its addresses and credentials, waits for a signal, and ends with
//   a line of counters.
//
// HOW IT IS USED
//   Users, TestSimulator of the laboratory and tests in other languages run gateway-simulator --state FOLDER. With
//   --json it first prints the addresses and credentials as one line (StartReport); otherwise as a few lines of text. A
//   port of 0, the default, is a free one. ports.json in the state folder lists the ports once the simulator is ready.
//   FaultOptions has the initial faults; later ones are set through the control port.
//
// THREADS AND TASKS
//   The main task awaits SIGTERM or SIGINT through EndSignals. Everything else runs in the module.
//
// STATE AND FILES
//   Only the module's state folder and record file.
//
// FAILURES
//   The exit status is 0 after SIGTERM or SIGINT, and 1 if it cannot start (with the reason on standard error). It is
//   64 for a wrong command line, which is checked before anything is opened.
//
// SEE ALSO
//   FaultOptions.swift, StartReport.swift, Sources/GatewaySimulator/GatewaySimulator.swift

import ArgumentParser
import Dispatch
import Foundation
import GatewaySimulator
import OperatingSystem

/// The simulator's command line: starts it, prints its addresses, and waits for a signal.
@main
struct GatewaySimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gateway-simulator",
        abstract: "Simulate APNs (HTTP/2, binary), FCM (HTTP v1, legacy) and Google's token endpoint on this machine.",
        discussion: """
            Certificates and credentials are created in the state folder at the first start and reused later. SIGTERM \
            or Ctrl-C stops it with exit status 0. The exit status is 1 if it cannot start, and 64 if the command line \
            is wrong.
            """
    )

    @Option(help: ArgumentHelp("The folder for the CA, credentials and ports.json.", valueName: "folder"))
    var state: String

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port of the APNs gateway; 0 for a free one.")
    var apnsPort = 0

    @Option(help: "The port of the FCM gateway; 0 for a free one.")
    var fcmPort = 0

    @Option(help: "The port of the legacy FCM gateway; 0 for a free one.")
    var fcmLegacyPort = 0

    @Option(help: "The port of the binary APNs gateway; 0 for a free one.")
    var apnsBinaryPort = 0

    @Option(help: "The port of the binary APNs gateway's feedback service; 0 for a free one.")
    var apnsFeedbackPort = 0

    @Option(help: "The port of the OAuth 2.0 token endpoint; 0 for a free one.")
    var oauthPort = 0

    @Option(help: "The control port, plain HTTP; 0 for a free one.")
    var controlPort = 0

    @Option(help: "The address of the control port, which has no access control.")
    var controlHost = "127.0.0.1"

    @Option(
        help: ArgumentHelp(
            "The file for the ports, written when all are open (default: ports.json in the state folder).",
            valueName: "file"
        )
    )
    var portFile: String?

    @Option(help: "Another name or address for the certificate; repeatable.")
    var certificateName: [String] = []

    @Option(help: "The number of event loop threads.")
    var threads = 1

    @Option(
        help: "A topic that the sample key may send to (default: com.example.app); repeatable; \"*\" allows any."
    )
    var topic: [String] = []

    @Option(help: "The Firebase project.")
    var projectID = "pushmta-simulator"

    @Flag(help: "Simulate APNs' development environment, with apns-unique-id in answers.")
    var sandbox = false

    @Flag(
        name: .customLong("string-iat"),
        help: "Accept APNs provider tokens whose iat is a string, as APNSwift writes it."
    )
    var takesStringIssuedAt = false

    @Flag(help: "Register every APNs device for the other environment, until changed through the control port.")
    var otherEnvironment = false

    @Option(help: "The lifetime of access tokens, in seconds.")
    var tokenLifetime = 3600

    @Option(
        help: ArgumentHelp(
            "The file that gets a JSON line {\"id\",\"gateway\",\"status\",\"reason\",\"time\",\"answered\"} for each push.",
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
            throw ValidationError("\(port) is not a port: give a number from 0 to 65535")
        }
        guard (1...64).contains(threads) else { throw ValidationError("threads must be from 1 to 64") }
        guard tokenLifetime > 0 else { throw ValidationError("the token lifetime must be greater than 0 seconds") }
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

    /// Writes unbuffered, so that a reader of a file or a pipe sees the line at once.
    private func write(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// Makes SIGTERM and SIGINT awaitable.
private struct EndSignals {
    private let stream: AsyncStream<Void>
    private let sources: [any DispatchSourceSignal]

    /// Starts catching the signals.
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

    /// Waits for one of them.
    func wait() async {
        for await _ in stream { return }
    }
}
