/// What a child is doing.
package enum ChildState: String, Sendable, Codable, CaseIterable {
    /// It reads its settings and connects to the database and the gateway.
    case starting
    /// It holds no part and waits for work.
    case idle
    /// It holds at least one part.
    case sending
    /// It holds parts but sends nothing: the gateway is in trouble, the database is down, or a quota is used up.
    case stalled
    /// It sends single messages to find out whether the gateway accepts messages again.
    case probing
    /// It claims no more parts and resolves the messages that it holds.
    case draining
    /// It has exited; its row stays, with the reason.
    case exited
}
