/// One limit on a delivery, an application or a host, and whether it is the one that limits now.
package struct LimitRow: Sendable, Hashable {
    /// What it applies to: a delivery, an application on an account, a child.
    package let subject: String
    /// What is limited.
    package let limit: String
    /// The present value, as text; "" if there is none.
    package let now: String
    /// The maximum, as text; "" if there is no such number.
    package let maximum: String
    /// What sets it: a setting, a command, the gateway, the child itself.
    package let setBy: String
    /// Whether it is what keeps messages from being sent faster now.
    package let binds: Bool
    /// Why it has this value, as text.
    package let why: String
}
