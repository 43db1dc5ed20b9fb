/// How the simulator behaves from its start on.
struct DrillGateway: Sendable {
    /// Milliseconds until an answer: long enough that many streams are open whenever a fault comes.
    var latencyMilliseconds = 50
    /// Streams that may be open on one connection: with the latency it sets the pace.
    var streams = 200
    /// The address that it listens on.
    var host = "127.0.0.1"
    /// Threads that serve connections.
    var threads = 1
    /// Further words of its command line.
    var arguments: [String] = []

    /// Its command line.
    var commandLine: [String] {
        [
            "--latency", String(latencyMilliseconds), "--max-streams", String(streams), "--host", host, "--threads",
            String(threads),
        ] + arguments
    }
}
