/// How the simulator behaves from its start.
struct DrillGateway: Sendable {
    /// Milliseconds until an answer. They are long enough that many streams are open when a fault lands.
    var latencyMilliseconds = 50
    /// The maximum number of open streams per connection. Together with the latency it limits the rate.
    var streams = 200
    /// The address that the simulator listens on.
    var host = "127.0.0.1"
    /// Threads that serve connections.
    var threads = 1
    /// Extra command-line arguments.
    var arguments: [String] = []

    var commandLine: [String] {
        [
            "--latency", String(latencyMilliseconds), "--max-streams", String(streams), "--host", host, "--threads",
            String(threads),
        ] + arguments
    }
}
