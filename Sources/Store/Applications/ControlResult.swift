/// How many users did something, members of a control group against all others.
package struct ControlResult: Sendable, Hashable {
    /// What they did.
    package let name: String
    package let since: DatabaseTime
    /// The users in the group and outside; nil until they are counted.
    package let members: Int64?
    package let others: Int64?
    package let convertedMembers: Int64
    package let convertedOthers: Int64
    /// The conclusion, in words.
    package let difference: String
}
