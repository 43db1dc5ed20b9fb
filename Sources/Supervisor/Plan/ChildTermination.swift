/// How the operating system says a child ended.
enum ChildTermination: Sendable, Equatable {
    case exited(status: Int32)
    case signalled(Int32)
    /// The process was never there: no executable, no memory, no descriptors. The text says why.
    case notStarted(String)
}
