import ProcessProtocol
import PushCore
import SystemPackage
import Testing

@testable import Supervisor

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite(.timeLimit(.minutes(2))) struct ChildProcessTests {
    @Test func statusLinesArriveAndTheEndIsSeen() async throws {
        let child = ScriptChild("\(ScriptChild.say(.idle, sent: 3)); exit 78")
        await child.run()
        let status = await child.collector.first { if case .childStatus = $0 { true } else { false } }
        guard case .childStatus(1, let line) = try #require(status) else { return }
        #expect(line.report.counts.sent == 3)
        #expect(await child.collector.end() == .exited(status: 78))
        #expect(child.registry[1]?.isAlive == false)
    }

    @Test func commandsReachItAndEndOfFileMeansDrain() async {
        let child = ScriptChild(
            """
            \(ScriptChild.say(.idle))
            while read -r line; do
              case "$line" in *drain*) \(ScriptChild.say(.draining, reason: .drained)); exit 0;; esac
            done
            exit 1
            """
        )
        async let process: Void = child.run()
        _ = await child.collector.first { if case .childStatus = $0 { true } else { false } }
        child.inbox.send(SupervisorMessage(.wake))
        child.inbox.send(SupervisorMessage(.drain))
        #expect(await child.collector.end() == .exited(status: 0))
        await process
    }

    @Test func stderrTailsAreKeptAndForwarded() async {
        let child = ScriptChild(
            "for i in $(seq 1 100); do echo \"line $i\" >&2; done; printf 'the last' >&2; kill -SEGV $$"
        )
        await child.run()
        #expect(await child.collector.end() == .signalled(SIGSEGV))
        let words = child.registry[1]?.stderrTail ?? ""
        #expect(words.hasSuffix("line 100\nthe last"))
        #expect(words.split(separator: "\n").count == StderrTail.maxLines)
        #expect(child.collector.forwarded.hasPrefix("line 1\nline 2\n"))
        #expect(child.collector.forwarded.hasSuffix("line 100\nthe last\n"))
    }

    @Test func garbageOnStandardOutputHarmsNothing() async {
        let child = ScriptChild(
            "echo 'hello from a library'; head -c 200000 /dev/zero; echo; \(ScriptChild.say(.idle, sent: 9))"
        )
        await child.run()
        let status = await child.collector.first { if case .childStatus = $0 { true } else { false } }
        guard case .childStatus(_, let line)? = status else {
            Issue.record("the line behind the garbage did not arrive")
            return
        }
        #expect(line.report.counts.sent == 9)
    }

    @Test func aMissingExecutableIsReported() async throws {
        let child = ScriptChild("")
        await child.run(executable: "/nowhere/pushmta")
        guard case .notStarted(let why) = try #require(await child.collector.end()) else {
            Issue.record("it seems to have been started")
            return
        }
        #expect(why.contains("/nowhere/pushmta"))
    }

    @Test func signalsReachAChildThatDoesNotRead() async {
        let child = ScriptChild("\(ScriptChild.say(.idle)); exec sleep 600")
        async let process: Void = child.run()
        _ = await child.collector.first { if case .childStatus = $0 { true } else { false } }
        for _ in 0..<5_000 { child.inbox.send(SupervisorMessage(.wake, detail: String(repeating: "x", count: 100))) }
        child.inbox.send(signal: Signals.terminate)
        #expect(await child.collector.end() == .signalled(SIGTERM))
        await process
    }

    @Test func itHasAProcessGroupOfItsOwnAndNoDescriptorsOfOurs() async {
        let child = ScriptChild(
            "exec >&2; cut -d' ' -f5 /proc/$$/stat; echo $$; ls /proc/$$/fd; :"
        )
        await child.run()
        let lines = (child.registry[1]?.stderrTail ?? "").split(separator: "\n")
        #expect(lines.count == 5)
        #expect(lines.first == lines.dropFirst().first, "leader of its own group")
        #expect(lines.dropFirst(2) == ["0", "1", "2"])
    }

    @Test func noZombieIsLeft() async throws {
        for end in ["exit 3", "kill -KILL $$", "exec >&- 2>&-; exit 0"] {
            let child = ScriptChild("echo $$ >&2; \(end)")
            await child.run()
            let pid = try #require(child.registry[1].flatMap { Int32($0.stderrTail) })
            #expect(kill(pid, 0) == -1 && errno == ESRCH, "it has been reaped")
        }
    }

    @Test func aProcessThatClosesItsOutputsAndLivesOnIsEnded() async {
        let child = ScriptChild("exec >&- 2>&-; exec sleep 600", drainTime: .milliseconds(100))
        await child.run()
        #expect(await child.collector.end() == .signalled(SIGTERM))
    }

    @Test func cancellationTerminatesItAndThenKillsIt() async {
        let child = ScriptChild("trap '' TERM; \(ScriptChild.say(.idle)); while :; do sleep 0.05; done")
        let process = Task { await child.run(killDelay: .milliseconds(100)) }
        _ = await child.collector.first { if case .childStatus = $0 { true } else { false } }
        process.cancel()
        await process.value
        #expect(await child.collector.end() == .signalled(SIGKILL))
    }
}
