/// What a child is doing.
public enum ChildState: String, Sendable, Codable, CaseIterable {
    /// It reads its settings and connects to database and gateway.
    case starting
    /// It holds no part and waits for work.
    case idle
    /// It holds at least one part.
    case sending
    /// It holds parts and sends nothing: the gateway or the database is in trouble, or a quota is used up.
    case stalled
    /// It sends single messages to find out whether the gateway takes messages again.
    case probing
    /// It claims nothing more and resolves what it holds.
    case draining
    /// It is gone; its row remains with the reason.
    case exited
}
