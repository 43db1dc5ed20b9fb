import Logging
import ProcessProtocol
import PushCore
import SystemPackage

@testable import Supervisor

/// A real process that replaces a child: a shell script that speaks the child's protocol.
struct ScriptChild {
    let collector = EventCollector()
    let registry = ChildRegistry()
    let inbox: ChildInbox
    private let script: String
    private let drainTime: Duration

    /// The shell command that prints a status line.
    static func say(_ state: ChildState, sent: Int = 0, reason: ChildExitReason? = nil) -> String {
        var report = ChildReport(pid: 1, state: state)
        report.counts.sent = Int64(sent)
        let status = ChildStatus(generation: 1, report: report, exitReason: reason)
        let line = String(decoding: LineEncoder.line(ChildMessage(status)).dropLast(), as: UTF8.self)
        return "echo '\(line)'"
    }

    init(_ script: String, drainTime: Duration = .seconds(20)) {
        self.script = script
        self.drainTime = drainTime
        inbox = registry.add(1, PlanHarness.push).inbox
    }

    /// Starts the process and returns after it was reaped.
    func run(executable: FilePath = "/bin/sh", killDelay: Duration = .seconds(20)) async {
        let host = ChildHost(
            registry: registry,
            tell: collector.tell,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            forward: collector.forward
        )
        let launch = ChildLaunch(
            executable: executable,
            arguments: ["-c", script],
            killDelay: killDelay,
            drainTime: drainTime
        )
        await host.run(1, inbox, launch)
    }
}
