import Foundation

/// Runs a command to its end without blocking a task's thread.
///
/// Foundation's `Process` detects the end of a process through a socket that a daemon would inherit and keep open. So
/// it cannot run `pg_ctl start`.
package enum Command {
    /// Runs it and returns its output (both streams); throws if it does not exit with status 0.
    ///
    /// - Parameters:
    ///   - user: runs it as another user (needs root).
    ///   - log: the file that takes the output, which is read back at the end.
    @discardableResult
    package static func run(
        _ executable: String,
        _ arguments: [String],
        asUser user: String? = nil,
        log: String
    ) async throws -> String {
        let command = user.map { ["/usr/sbin/runuser", "-u", $0, "--", executable] } ?? [executable]
        let pid = try spawn(command + arguments, log: log)
        let status = await withCheckedContinuation { (continuation: CheckedContinuation<Int32, Never>) in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(pid, &status, 0) < 0, errno == EINTR {}
                continuation.resume(returning: status)
            }
        }
        let output = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        guard status == 0 else { throw TestSupportError("\(executable) ended with wait status \(status): \(output)") }
        return output
    }

    private static func spawn(_ words: [String], log: String) throws -> pid_t {
        #if canImport(Darwin)
        var actions: posix_spawn_file_actions_t?
        #else
        var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // The other user may not be allowed to enter the current directory.
        let arguments = (["/bin/sh", "-c", "cd / && exec \"$@\"", "sh"] + words).map { strdup($0) }
        defer { for argument in arguments { free(argument) } }
        var pid: pid_t = 0
        let failure = posix_spawn(&pid, "/bin/sh", &actions, nil, arguments + [nil], environ)
        guard failure == 0 else {
            throw TestSupportError("cannot run \(words[0]): \(String(cString: strerror(failure)))")
        }
        return pid
    }
}
