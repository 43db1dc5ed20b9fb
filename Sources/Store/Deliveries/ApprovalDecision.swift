/// What a person decides about a delivery that needs an approval.
package enum ApprovalDecision: String, Sendable, CaseIterable {
    /// It may begin as it is.
    case approve
    /// Its author edits it again.
    case reject
    /// An approval ends.
    case withdraw
}
