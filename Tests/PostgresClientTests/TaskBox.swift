import PostgresClient
import Synchronization

/// Tasks started inside a closure, to be awaited outside of it.
final class TaskBox: Sendable {
    private let tasks = Mutex<[Task<PostgresResult, any Error>]>([])

    var all: [Task<PostgresResult, any Error>] { tasks.withLock { $0 } }

    func add(_ task: Task<PostgresResult, any Error>) { tasks.withLock { $0.append(task) } }
}
