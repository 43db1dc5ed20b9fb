import ProcessProtocol
import Subprocess

extension ChildProcess {
    typealias Running = Execution<CustomWriteInput, SequenceOutput, SequenceOutput>

    /// Exchanges messages with the process until both its outputs have ended, at the latest when it dies.
    func converse(with execution: Running, _ reader: ChildOutputReader) async {
        await withTaskGroup { group in
            group.addTask { await write(to: execution) }
            group.addTask { await signal(execution) }
            async let output: Void = Self.copy(execution.standardOutput, to: reader.output)
            async let error: Void = Self.copy(execution.standardError, to: reader.error)
            _ = await (output, error)
            group.cancelAll()
        }
        await endSilentProcess(execution)
    }

    /// Ends a process that has closed its outputs but has not exited, as it can no longer be watched.
    ///
    /// The first signal is harmless to a process that is exiting, the usual reason for closed outputs.
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
            // A pipe that cannot be read has ended; the exit of the process says the rest.
        }
        take([])
    }

    private func write(to execution: Running) async {
        for await message in inbox.commands {
            do {
                _ = try await execution.standardInputWriter.write(LineEncoder.line(message))
            } catch {
                // The child has closed its standard input or is gone; its exit says why.
                return
            }
        }
    }

    private func signal(_ execution: Running) async {
        for await number in inbox.signals {
            // A process that is already gone needs no signal.
            try? execution.send(signal: Signal(rawValue: number))
        }
    }
}
