/// How a child's process ended.
enum ChildTermination: Sendable, Equatable {
    case exited(status: Int32)
    case signalled(Int32)
    /// The process could not be started, for example without an executable, memory or descriptors. The text says why.
    case notStarted(String)
}
