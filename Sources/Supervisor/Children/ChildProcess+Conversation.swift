import ProcessProtocol
import Subprocess

extension ChildProcess {
    typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// Talks with the process until both its outputs have ended, which they do at its death at the latest.
    func converse(with execution: Running, _ ear: ChildEar) async {
        await withTaskGroup { group in
            group.addTask { await write(to: execution) }
            group.addTask { await signal(execution) }
            async let output: Void = Self.copy(execution.standardOutput, to: ear.output)
            async let error: Void = Self.copy(execution.standardError, to: ear.error)
            _ = await (output, error)
            group.cancelAll()
        }
        await endSilentProcess(execution)
    }

    /// Ends a process that has closed its outputs and lives on, as nobody would hear of it any more.
    ///
    /// The first signal does nothing to a process on its way to the exit, which is what closed outputs mean as a rule.
    private func endSilentProcess(_ execution: Running) async {
        await execution.teardown(using: [
            .send(signal: .resume, allowedDurationToNextStep: launch.drainTime),
            .send(signal: .terminate, allowedDurationToNextStep: launch.killDelay),
        ])
    }

    private static func copy(_ output: SubprocessOutputSequence, to take: @Sendable ([UInt8]) -> Void) async {
        do {
            for try await buffer in output {
                take(buffer.withUnsafeBytes { [UInt8]($0) })
            }
        } catch {
            // A pipe that cannot be read has ended for us; the process is heard of through its exit.
        }
        take([])
    }

    private func write(to execution: Running) async {
        for await message in inbox.commands {
            do {
                _ = try await execution.standardInputWriter.write(LineEncoder.line(message))
            } catch {
                // The child has closed its standard input or is gone; its exit says what happened.
                return
            }
        }
    }

    private func signal(_ execution: Running) async {
        for await number in inbox.signals {
            // A process that is gone already needs no signal.
            try? execution.send(signal: Signal(rawValue: number))
        }
    }
}
