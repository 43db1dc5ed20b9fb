import Store

/// What an operator should know of old things that are held back.
struct RetentionNotice: Sendable {
    /// What is held.
    let subject: String
    /// What is wrong and what to do.
    let text: String

    init(_ hold: RetentionHold) {
        subject = "retention of \(hold.what)"
        text =
            "far more than a day's worth is beyond the time that it is kept for, so nothing goes: the database's clock says \(hold.databaseTime). If that is wrong, set it right. If it is right, because feedback.retention keeps less now or no feedback worker has acted for days, it goes in \(Int(hold.goesInSeconds / 3_600) + 1) h by itself"
    }
}
