/// The texts of the pages, by name: templates write `{{t.name}}`, and `{0}` in a text stands for a value.
///
/// Each language is a file with all of them (``WordFile``). A test finds texts that no page uses, and names that have
/// no text.
enum Phrase: String, Sendable, CaseIterable {
    // The surroundings of every page.
    case skip, menuLabel, menuNow, menuDeliveries, menuAlarms, menuHosts, menuAudit, signedInAs, signOut, reload
    // Signing in.
    case signInTitle, signInUser, signInPassword, signInButton, signInHint, signInRefused, signInLocked, sessionOver
    // Choosing a new password.
    case passwordTitle, passwordOneTime, passwordOld, passwordNew, passwordAgain, passwordHint, passwordButton,
        passwordDone, passwordWrong, passwordShort, passwordLong, passwordDiffers, passwordSame
    // Problems, each with a remedy.
    case notFoundTitle, notFoundText, refusedRoleTitle, refusedRoleText, refusedFormTitle, refusedFormText,
        malformedTitle, malformedText, tooLongTitle, tooLongText, databaseAwayTitle, databaseAwayText, busyTitle,
        busyText, conflictTitle,
        conflictText, failedTitle, failedText, backToNow, backToPage
    // Now.
    case nowTitle, asOf, liveOn, livePause, liveResume, livePaused, liveLost, deliveryChanged, summaryWell,
        summaryWarnings, summaryCritical, summaryNoHost, figuresTitle, figureRate,
        figureRateUnit, figureFlight, figureFlightUnit, figureWaiting, figureWaitingUnit, figureSent, figureSentUnit,
        figureLatency, figureLatencyUnit, hourTitle, hourAgo, hourNow, hourPartial, chartEmpty, chartWords, chartBar,
        perMinute, legendSent, legendFailed, legendOther, underWay, nothingUnderWay, allDeliveries, queueTitle,
        queueEmpty, queueStanding, queueLane, laneSingle, laneBatch, columnMessages, columnOldest, hostsNow, noHosts
    // The list of deliveries.
    case deliveriesTitle, filterLabel, filterText, filterState, filterApplication, filterAny, filterButton,
        filterClear, columnDelivery, columnState, columnApplications, columnTarget, columnSent, columnFailed,
        noDeliveries, noDeliveriesYet, listCut, lookOn, newest,
        unnamedDelivery, notStarted, pagesLabel
    // Its filter and its order, and what is done to several of its rows.
    case filterAuthor, filterSince, filterUntil, filterArchived, columnDate, sortLabel, chooseRow, severalLabel,
        listMine,
        listUsesList, listUsesSeed, listRanked, listFirst, listNext, compareButton, archiveButton, unarchiveButton,
        doneArchive, doneUnarchive, doneArchiveOne, doneUnarchiveOne,
        chooseTwo, chooseOneRow, chooseSome, duplicatePlainTitle, duplicateVariants, duplicatePlain, archiveTitle,
        archiveText,
        unarchiveTitle, unarchiveText, archiveOnlyEnded, auditArchive, auditUnarchive
    // The comparison of two deliveries.
    case compareTitle, compareWith, compareNumber, compareNumberWrong, columnDifference, compareFirst, compareSecond,
        compareFacts, compareSame, compareNote, compareNothing, compareMore, compareLess, compareUnclear, compareRunning
    // States of deliveries.
    case stateEditing, stateAnalysing, stateReady, stateAwaited, stateUnrequested, stateApproved, stateRejected,
        statePending, statePreparing,
        stateInProgress, stateWaiting, statePaused, stateFinished, stateStopped, stateRecalled
    // One delivery.
    case factNumber, factApplications, factKind, kindBatch, kindContinuous, factStarted, factFinished, factDuration,
        dayOf, daysTitle, daysNote, daysOlder, daysNewest, columnDay, waitsBecause, stateBecause, actionsTitle,
        pauseButton, resumeButton, operatorResumes, stopButton,
        stopTitle, stopText, stopEditedText, actionNotNow,
        cancelButton, formCancel,
        targetGrowing, targetLast, targetUnknown, targetSoFar, aboutTitle, aboutWhom, aboutCondition, aboutLists,
        aboutSeeds, aboutNamed, aboutProof, aboutRecalled, aboutFilter, aboutAnd, aboutOr, aboutLogin, aboutStartedBy,
        aboutScheduledBy, aboutAnalysedBy,
        aboutValid, aboutAfterStart, contentTitle, contentNote, factRate, factLimitedBy, factLeft, factLeftPlanned,
        factLeftUnknown,
        outcomeTotal, chartOutcomes, chartReactions, chartByMinute, chartByHour, chartByDay, chartByWeek,
        chartBusiest, chartTable, columnTime, perHour, perDay, perWeek,
        doneStart, donePause, doneResume, doneResumeEarly, doneStop, funnelTitle, funnelTarget, funnelSent,
        funnelReceived, funnelClicked, funnelNote, outcomesTitle, columnOutcome, columnCount, columnShare,
        byApplicationTitle,
        columnApplication, columnOther, columnPending, columnReceived, columnClicked, columnClickShare,
        unknownApplication,
        failuresTitle, failuresNote, columnReason, columnMeaning, noReason, exclusionsTitle, columnPeople, atLeast,
        about, aboutWithin, atMost,
        limitsTitle, limitsNote, columnLimit, columnNow, columnMost, columnSetBy, columnWhy, bindsNow, nothingBinds,
        otherLimits
    // A delivery before its start.
    case factStarts, startNowButton, startAtButton, moveButton, moveTitle, editButton, editTitle, editText,
        duplicateButton, openDraft, earlierReturn, doneReschedule, doneEdit, analyseButton, analyseHint, analysisTitle,
        analysisRunning, analysisNote, analysisKept, analysisDropped, analysisCount, analysisRendered,
        analysisRenderedOf, analysisRenderedEach, analysisSizes, analysisBytes, analysisRefused, analysisTakes,
        analysisEnds, startNobody, capHeld, capHolder, capHeldOthers, capHeldRemedy, boundZone, boundHours, boundWave,
        boundWinner, byLocaleTitle,
        byTimeZoneTitle, analysisSamples, analysisSamplesNote,
        problemsTitle, columnPlace, columnProblem, auditAnalyse, auditReschedule, auditEdit, auditChange,
        auditSamples, auditMessagePreview
    // Recurring deliveries.
    case recurrenceTitle, recurrenceText, recurrenceNone, recurrenceEditing, recurrenceActive, recurrencePaused,
        recurrenceFinished, recurrenceEvery, recurrenceUnit, unitHour, unitDay, unitWeek, unitMonth, recurrenceTimes,
        recurrenceTimesHint, recurrenceZone, recurrenceZoneHint, recurrenceWeekdays, monday, tuesday, wednesday,
        thursday, friday, saturday, sunday, recurrenceMonthDays, recurrenceMonthDaysHint, recurrenceStartsOn,
        recurrenceEndsOn, recurrenceDateHint, recurrenceExcept, recurrenceExceptHint, recurrenceMissed, missedSkip,
        missedOnce, recurrenceSave, recurrenceSet, recurrenceStart, recurrencePause, recurrenceRun, recurrenceRemove,
        recurrenceNext, recurrenceWaits, columnPlanned, runStarted, runMissed, runOverlap, runFailed, runOf,
        recurrenceNumberWrong, recurrenceTimeWrong, recurrenceDateWrong, doneRecurrence, doneRecurrenceStart,
        doneRecurrencePause, doneRecurrenceRun, doneRecurrenceRemove, auditRecurrence, auditRecurrenceStart,
        auditRecurrencePause, auditRecurrenceRun, auditRecurrenceRemove, recurHint, standingActive, standingPaused,
        standingEditing, standingFinished, draftRecurs, removeDraftRecurs, forceText, forceApproval, forceTitle,
        forceButton, doneForce, editContent, editRecurringTitle, editRecurringText, editPlainTitle, editVariants,
        editPlain, stopRecurringText, approvalOfRuns, approvalFreesRun, doneApproveRuns, doneRejectRun,
        recurrenceNextIf, recurrenceRunTitle, recurrenceRunText, recurrenceRunAbove, recurrenceRunApproved,
        recurrenceRemoveTitle, recurrenceRemoveText
    // Experiments.
    case experimentTitle, experimentIntro, experimentOff, experimentTooEarly, experimentTooEarlyNow, planUnfit,
        experimentTry, experimentChange, experimentShare, experimentShareHint,
        experimentTextTitle,
        experimentTextBody, experimentTextHint, experimentHoldOut, experimentHoldOutHint, experimentMetric,
        metricClicks, metricReceipts, metricConversions, experimentHours, experimentHoursHint, experimentEarly,
        experimentCertainty, experimentCertaintyHint, experimentSample, experimentSampleHint, experimentDoubt,
        experimentDoubtRemedy, experimentUndecided,
        undecidedFirst, undecidedWait, experimentNumberWrong, experimentTwoWrong, experimentSumWrong,
        variantsSame, variantsSameFor, experimentTextLong, experimentHoursLocal,
        experimentHoursMissing, missingExperiment, experimentSummary, experimentSummaryHoldOut, experimentSummaryTime,
        experimentWaiting, experimentRunning,
        experimentDecided, experimentOpen, experimentEnded, experimentDecides, experimentDecidedAt, experimentEndedAt,
        experimentWinner,
        experimentCounted, experimentRest, columnVariant, columnConverted, experimentChoose,
        experimentChoices, experimentRate, experimentInterval,
        chooseTitle, chooseText, doneWinner, auditWinner, variantTitle, variantLook, variantNote
    // The recall of a delivery.
    case recallLocaleEmpty, recallTextUnused, recallNeedsApproval
    case recallTitle, recallText, recallButton, recallReason, recallMode, recallStop, recallReplace, recallRemove,
        recallNewTitle, recallNewBody, recallOnlyReplace, recallNoKey, recallFact, recallKeyMissing, recallTextMissing,
        recallMainMissing,
        recallAlready, recallSent, recallSecond, recallNotYours, recallStopSecond, recallBefore, recallAgainButton,
        recallOtherAgain, recallBecause, recallKeyPartly,
        doneRecall, auditRecall, recalledTitle, recalledBy,
        recalledReason, recallUnsent, recallReplaced, recallRemoved, recallNotReplaced, recallNotRemoved,
        recallNeverReplaced, recallNeverRemoved, recallUnconfirmed, recallTooLate, recallChild, recallOf, recallGivenUp
    // The approval of a delivery.
    case approvalOwnAwaited, approvalOwnUnrequested, approvalStartsAtOnce, approvalStartsAt, approvalStartsOver,
        approvalStartsNever,
        approvalRequestedBy, requestButton, requestAtButton, requestTitle, requestNow, requestAt, requestSmall,
        doneRequest, auditRequest, approvalsOwn, approvalRequest, whenApproved, whenApprovedLater
    case approvalTitle, approvalAwaited, approvalOutdated, approvalAbove, approvalMakers, approvalBy, approvalAt,
        approvalMessages, approvalComment, approvalWords, rejectReasonMissing, approvalStale, approveButton,
        rejectButton, withdrawButton, doneApprove,
        doneReject, doneRejectRecall,
        doneWithdraw, auditApprove, auditReject, auditWithdraw, auditApprovalRule, auditPerson
    // The deliveries that wait for one.
    case menuApprovals, approvalsTitle, approvalsNote, noApprovals, approvalOwn, approvalsAwaited
    // Outcomes of messages.
    case countedSent, countedIgnored, countedCanceled, countedUnknown
    case outcomeSent, outcomeSentMeaning, outcomeFailed, outcomeFailedMeaning, outcomePending, outcomePendingMeaning,
        outcomeIgnored, outcomeIgnoredMeaning, outcomeNotApplicable, outcomeNotApplicableMeaning, outcomeCanceled,
        outcomeCanceledMeaning, outcomeUnknown, outcomeUnknownMeaning
    // The product's own reasons.
    case reasonDisabled, reasonOptedOut, reasonQuarantine, reasonDuplicate, reasonUnknownSubscription,
        reasonExclusionList, reasonConditionFailed, reasonFrequencyCap, reasonSeed, reasonExpired, reasonStopped,
        reasonCategoryOptedOut, reasonRecalled, reasonControlGroup, reasonHoldOut
    // Alarms.
    case alarmsTitle, noAlarms, severityCritical, severityWarning, remedyLabel, sinceLabel
    case alarmsUnseen, alarmSeen, alarmAcknowledge, doneAcknowledge, alarmsOver, alarmBegan, alarmEnded, alarmSeenBy
    case alarmPausedRemedy, alarmReturnedRemedy, alarmRecallRemedy, alarmUnapprovedRemedy, alarmRecurrenceRemedy,
        alarmAccountRemedy, alarmGatewayRemedy, alarmCredentialRemedy, alarmSignalRemedy,
        alarmExperimentRemedy, alarmCircuitRemedy, alarmRefusedRemedy, alarmFailureRemedy, waitsForChoice, winnerChosen
    case auditFilter, auditFilterButton, auditAlarm, auditAdded, auditChanged, auditRemoved
    case auditImport, auditImportUndo, auditTokenConfirm, auditTokenUndo
    case auditDeliveryAdd, auditDeliveryWeight
    case auditKindService, auditKindApplication, auditKindAccount, auditKindCredential, auditKindMapping, auditKindKey,
        auditKindList, auditKindTemplate, auditKindSeed, auditKindHost, auditKindRate
    // Hosts and children.
    case hostsTitle, columnHost, columnHealth, columnRate, columnChildren, columnLoad, columnMemory, columnDisk,
        columnVersion, childrenOf, columnAccount, columnDoes, columnFlight, columnConnections, columnLatency,
        drainButton, drainTitle, drainText, doneDrain, heardLabel, healthAlive, healthLate, healthGone,
        healthStopped, healthDraining, noChildren, childStarting, childIdle, childWorking, childDraining,
        childExited, lastError
    // The audit log.
    case auditTitle, auditNote, columnWhen, columnWho, columnWhat, columnSubject, columnFrom, noAudit, auditOlder,
        noAuditMatch, nobody,
        auditSignIn, auditSignOut, auditRefused, auditPause, auditResume, auditStop, auditDrain,
        auditUserAdd, auditUserRole, auditUserPassword, auditUserRemove, auditTrace
    // Subscribers, quarantine, outcomes.
    case menuSubscribers, menuQuarantine, subscribersTitle, subscribersNote, findLabel, findBy, findWanted,
        findButton, findUserKey, findSubscription, findNothing, findLongKey, findNoNumber, findPushToken, findNoToken,
        factTokenHash, findNobody, findCut, subscriptionsTab, serviceSubscriptionsTitle, serviceSubscriptionsNote,
        noSubscriptions, allSubscriptions, olderSubscriptions,
        columnSubscription, columnLocale, columnRegistered, subscriberActive, subscriberOptedOut,
        subscriberQuarantine, subscriberDisabled, subscriberTitle, maskedNote, nobodyKnown, factService,
        factPlatform, factLocale, factTimeZone, factAppVersion, factDevice, factRegistered, factLastSeen, factOthers,
        factProven, provenYes, provenNo, becauseOptedOut, becauseDisabled, becauseErrors, becauseQuarantine,
        becauseDenylisted, disabledTokenInvalid, disabledTokenMoved, disabledTokenRenewed, disabledUnregistered,
        disabledForgotten, disabledSeed, messagesTitle, messagesNote, messagesCut, noMessages, columnAt, columnTold,
        toldReceived, toldClicked, toldNothing, olderMessages, newestMessages, optOutButton, optOutTitle, optOutText,
        optOutAllButton, optOutAllText, optInButton, optInAllButton, optInTitle, optInText, optInAllText, liftButton,
        undoTitle, undoText, undoDelivery, undoDeliveryHint, undoDeliveryWrong, undoNothing, undoContinue, undoCount,
        undoButton, doneUndo, liftTitle, liftText,
        forgetButton, forgetTitle, forgetText, doneOptOut, doneOptIn, doneLift, doneForget, quarantineTitle,
        quarantineNote, quarantineCounts, quarantineLatest, noQuarantine, kindDeadToken, kindSoftErrors, columnKind,
        columnSince, olderQuarantine, takeOutcomes, takeNote, auditFind, auditList, auditShow, auditOptOut, auditOptIn,
        auditUnregister, auditLift, auditForget, auditOutcomes, auditCategorySet, auditCategoryDrop
    // Categories of deliveries.
    case categoriesTitle, categoriesNote, columnCategory, columnWanted, categoryWanted, categoryUnwanted,
        categoryAlways, categoryOutButton, categoryInButton, categoryOutTitle, categoryOutText, categoryInTitle,
        categoryInText, doneCategory, settingCategory, settingCategoryHint,
        settingCategoryUsual
    // The rows of a filter.
    case rulesTitle, rulesJoin, rulesHint, rulesByHand, ruleAll, ruleAny, ruleField, ruleComparison, ruleValue,
        ruleRemove, ruleAdd, ruleEqual, ruleNotEqual, ruleLess, ruleLessOrEqual, ruleGreater, ruleGreaterOrEqual,
        ruleIn, ruleNotIn, ruleContains, ruleContainsNot, ruleStarts, ruleStartsNot, ruleNull, ruleNotNull,
        ruleOfDelivery, ruleNotOfDelivery, ruleOfLabel, ruleNotOfLabel, ruleOfCategory, ruleNotOfCategory, ruleOfAny,
        ruleNotOfAny
    // Templates.
    case menuTemplates, templatesTitle, templatesNote, noTemplates, columnTemplate, columnPlatforms, templateReadyMade,
        templateOwn, templateOpen, templateLabel, templateOrigin, templateContent, templateSettings, templateStays,
        templateForSystems,
        templateUse, templateDeleteTitle, templateDeleteText, templateDeleteButton, doneTemplateDelete,
        doneTemplateAdd, moreTemplates, firstTemplates, keepTitle, keepHint, keepName, keepButton, auditTemplateAdd,
        auditTemplateRemove
    // Settings in force.
    case settingsTitle, settingsNote, settingsFile, settingsChanged, settingsNoneChanged, settingsDefaults,
        columnSetting,
        columnValue, columnSource, sourceDefault, sourceFile, sourceEnvironment, sourceFlag, valueEmpty,
        settingsOfHosts, settingsOfHostsNote
    // Roles.
    case roleRead, roleMarketing, roleOperate, roleAdmin
    // The users of the console.
    case menuUsers, usersTitle, usersNote, columnSessions, columnAdded, userOneTime, userPermanent, userOwn,
        userNewTitle, userNewText, userNewButton, userNameHint, userNameWrong, userTaken, userRole, userRoleHint,
        userRoleWrong, userRoleTitle, userRoleText, userRoleButton, userPasswordButton, userPasswordAsk,
        userPasswordAskText, userPasswordTitle, userPasswordText, userPasswordBack, userRemoveTitle, userRemoveText,
        doneUserRole, doneUserRemove
    // Languages.
    case languageLabel
    // Slow requests, and users with too many open pages.
    case tooSlowTitle, tooSlowText, liveFull
    // Rates of the last minutes.
    case columnTrend, trendWords, trendEmpty, childrenTitle, childrenCut, allHosts
    // Recycling a child.
    case recycleButton, recycleTitle, recycleText, doneRecycle, recycleAsked, auditRecycle
    // The composer.
    case menuCompose, composeTitle, newDraft, draftLabel, draftLabelHint, startFrom, startEmpty, begin, draftsTitle,
        columnDraft, columnChanged, removeDraft, draftRemoved, noDrafts, unnamedDraft, draftChanged,
        draftChangedText, draftOpen, draftIsDelivery, typedBack, typedBackChanged, draftReturned, draftTakenBack,
        stepsLabel, removeDraftTitle, removeDraftText, removeDraftStops,
        stepApplications, stepTarget, stepContent, stepPreview, stepSend, save, saveAndGoOn, saved, noApplications,
        filterField, filterHint, listsLabel, everybody, countLabel, countHint, countNobody, countMapping, countExcluded,
        countExcludedLists, countExact, countEstimated, countDevices, countLeftOut,
        chooseApplicationsFirst, contentWrong, contentWrongAll, contentRight, keyTitle, keySubtitle, keyBody, keyBadge,
        keySound,
        keyCategory, keyMedia, keyClick, keyKind, keyChannel, keyIcon, keyColor, keyInterruption, keyPriority,
        keyCritical, keyVolume, keyRelevance, keyTemplate, richTemplate, richTemplateShow, fieldRequired, listCount,
        keyMore, contentEmpty, filterPlace,
        keyReplaceable, choiceNone, choiceYes, choiceNo, variablesLabel, moreFields, generalTitle, localeLabel,
        localesField,
        localesHint, localeEverybody, trackingField, trackingHint, missingField, missingDefault, missingEmpty,
        missingExclude, fieldsHint,
        fieldsKnown, previewWrong, backToContent, readerLabel, readerValues, readerSample, readerNumber, readerLocale,
        noSubscription, iPhone, androidPhone, lockScreen, expanded, previewDay, previewNow, previewImage,
        previewButtons, previewSilent, previewLeftOut, previewTooLong, previewOpens, bytesOf, previewPayload,
        previewNote, sizeTitle, columnBytes, tooLong, samplesTitle, samplesHint, summaryTitle, missingLabel,
        missingApplications, missingFilter, missingContent, proofTitle, proofHint, seedsLabel, proofButton, noSeeds,
        noSeedReady,
        proofToNobody, proofSent, startHead, whenLabel, whenNow, whenLater, whenMoment, goToStart, noMoment, pastMoment,
        momentSkipped, momentTwice, zoneUnknown,
        startTitle, startTo, startSubscriptions, startNow, startRemedy, applicationGoneRemedy, accountGoneRemedy,
        contentRefusedRemedy, filterRefusedRemedy, templateCodeRemedy, categoryGoneRemedy, recursRemedy,
        requestRemedy, proofSmallerRemedy, signalGoneRemedy, restRemedy, messageIDsRemedy, startAt, startPlanned,
        startCounted, startButton,
        auditDraftAdd,
        auditDraftSave,
        auditDraftRemove, auditProof, auditStart, auditPreview
    // The menu and the lists of services.
    case menuServices, servicesTitle, columnBundle, applicationsOf, noApplicationsYet, noServices, firstServices,
        moreServices, serviceDone, pairDone, addPairButton, addAndroidButton
    // The state of an application.
    case standingReady, standingCircuit, standingTrouble, standingNoAccount, standingNoCredential, standingExpired,
        standingExpires, platformIOS, platformAndroid, environmentSandbox, environmentProduction
    // One application.
    case factEnvironment, factBundleID, factPackage, factMessageIDs, factConnector,
        factGateway, factLabel, messageIDsUUID, messageIDsInt32, noAccount, iconWords, circuitIsOpen,
        gatewayTakesNothing, gatewayRemedy, routeIsWrong, credentialUnfit, credentialUnfitRemedy, accountInactive,
        noAccountText, noAccountRemedy, applicationDone, resumeDone, credentialDone, credentialTitle, credentialNote,
        noCredentialText, credentialKind, credentialStored, credentialFingerprint, credentialOthers,
        credentialAPNsKey, credentialCertificate, credentialServiceAccount, credentialProjectKey, credentialKeyID,
        credentialTeamID, credentialProject, credentialTopics, credentialEnvironments, credentialSubject,
        expiryNever, expiryOver, expiryIn, snippetNote, declaredTitle, declaresNothing, columnVariable, columnType,
        columnDefault, columnSound, columnParameter, columnKept, columnZone, soundOfSystem
    // Letting an application send again.
    case resumeButtonOfApp, resumeTitle, resumeText, resumeBelieve, resumeBelieveHint, resumeNow
    // Sending a test push.
    case testButton, testTitle, testText, fieldSeed, fieldSeedHint, seedNone, fieldSubscription, fieldSubscriptionHint,
        fieldTestTitle, testTitleWords, fieldTestBody, testBodyWords, testSend, testToNobody, testDone, auditTest
    // Forms that declare something.
    case fieldName, fieldNameHint, fieldLabel, chooseOne, newServiceTitle, newServiceText, newServiceButton,
        newPairTitle, newPairText, pairNameHint, newPairButton, newAndroidTitle, newAndroidButton, noServicesForForm,
        bundleHint, packageHint, formatHint, formatMissing, fieldProductionAccount, fieldSandboxAccount,
        fieldProductionKey, fieldSandboxKey,
        noAccountYet, keyHint, copyTitle, copyText, copyButton, integrationKeyTitle
    // Uploading a credential.
    case credentialFormTitle, credentialFormText, credentialFormButton, chooseFile, materialIOS, materialIOSHint,
        materialAndroid, materialAndroidHint, keyIDHint, teamIDHint, fieldPassphrase, passphraseHint, fieldBoth,
        fieldBothHint, materialMissing, keyIDsMissing, noSealingKey
    // External accounts.
    case accountsTitle, accountsText, noAccounts, firstAccounts, moreAccounts, accountActive, accountPaused,
        accountDone, connectorIOSHTTP2, connectorIOSBinary, connectorAndroidV1, connectorAndroidV2, newAccountTitle,
        newAccountText, newAccountButton, accountEnvironmentHint, fieldHost, fieldHostHint, fieldPort,
        connectorMissing, portWrong, portMissing, binaryClosed
    // Changing things.
    case changeButton, changeTitle, formWrong, nameMissing, formStale, formLoadAgain, changeGeneral, changeBuiltIn,
        changeBuiltInNote, labelHint, accountChangeHint, fieldRate, rateHint, rateWrong, bundleChangeHint,
        keyChangeHint, formatChangeHint, formatUnderWay, keyTaken, accountMissing, accountUnfit, iconRemove,
        iconChoose, iconPaste, iconHint, iconNoBase64, iconNoBase64Remedy, variablesTitle, variablesHint,
        variableAdd, soundsTitle, soundsHint, soundAdd, soundOfApplication, columnOrigin, parametersTitle,
        parametersHint, parameterAdd, applicationChanged, serviceChanged, serviceLabelHint, accountChanged,
        fieldMapping, mappingStandard, mappingHint, fieldTrust, trustOpen, trustSigned, trustServer, trustHint,
        trustMissing, trustNoKey, fieldAccessURL, accessURLHint, accessURLWrong, connectorUnfit, connectorOfOther,
        hostOfConnector, authoritiesHint, authoritiesWrong,
        changeAccountText, hostChangeHint, hostOfOthers, hostWrong, fieldConnections, connectionsHint,
        connectionsWrong, fieldFeedbackHost, fieldFeedbackPort, feedbackHint, stateHint, bySetting, noLimit,
        factAuthorities, authoritiesNote, accountPausedText, accountApplications, accountUnused, auditServiceChange,
        auditAccountChange, auditApplicationChange
    // Their entries in the audit log.
    case auditServiceAdd, auditAccountAdd, auditApplicationAdd, auditApplicationCopy, auditApplicationResume,
        auditCredentialSet
    // Settings of a delivery.
    case sendingTitle, sendingHint, missingSettings, settingRate, settingRateHint, settingRateUsual, settingValidity,
        settingValidityHint, settingValidityUnit, unitDays, unitHours, unitMinutes, unitSeconds,
        settingPriority, settingPriorityHint, settingWeight, settingWeightHint, settingRetries,
        settingRetriesHint, settingSchedule, settingScheduleHint, settingScheduleDaily,
        settingScheduleExponential, settingPause, settingPauseHint, settingPauseUsual, settingPolicy,
        settingPolicyHint, settingPolicyResend, settingPolicyReport, settingPerson, settingPersonHint,
        settingPersonAll, settingPersonOne, settingCode, settingCodeHint, settingCodeNo, settingCodeYes,
        settingSeeds, settingSeedsHint, settingSeedsNo, settingSeedsAll, settingSeedsNamed, factSeeds,
        factCode, auditOneTimeCode, auditNoCode, settingUnknown, settingNoNumber, settingSeparator, readerKey, noReader,
        readerExcluded, readerViewSlow, readerViewProblem, localeSaysNothing, soundDefault
    // The optional steps of the composer.
    case counterWords, stepExperiment, stepLimits, stepApproval, stepSkip, stepContinue, limitsText, capsTitle,
        limitsCapsText, capsNone,
        columnCap, columnForThis, capShort, capApplies, capApplyNot, limitsRateTitle,
        missingLimits, approvalStepText, approvalNone, approvalSize, approvalNeeded, approvalNotNeeded,
        approvalDepends, approvalAboveWords, analyseForApproval, analyseAndStart, approvalFirst,
        obstacleNoAccount, obstacleInactiveAccount, obstacleNoCredential,
        obstacleExpiredCredential, obstacleLink
    // When messages leave: the recipient's time, waves, sending hours.
    case lateMessages, lateOf, reachesNobody, localTimeLate
    case pastMomentLater, startHours, stopEarlyText, stopRecallText, stopBegunRecallText, decisionNotNow, isArchived
    case approvalPaused, approvalEnded, rejectWords, recallStoppedBy, recallAgain, recallNothing, recallEarly
    case problemApproval, problemContent, problemFilter, problemStart, rejectRemedy
    case limitByButtons, limitByWeight, limitByPlan, limitByRate, limitByFollow, limitByAccount, limitByScope,
        limitByGateway, limitByResume, limitState, limitPlan, limitPriority, limitWeight, limitCircuit, limitGateway,
        limitAccount, limitChildren, limitConnections, limitRate, limitSignal, factLeftHeld
    case localTimeOver, localTimeSkipped, waveOver, copiedFrom, copyContent, copyKept, copyOverwrite, copyLeft
    case stepWhen, whenText, missingPlan, localTimeTitle, localTimeText, localTimeMoment, localTimePast, localTimeWrong,
        localTimeClock,
        pastChoose, pastMissing, pastNow, pastNextDay, pastSkip, pastSkipsRest, wavesTitle, wavesText, wavesHint,
        waveNumber, waveSize,
        waveSizeWrong, waveSumWrong, waveBegins, waveBeginsWrong, waveFirst, waveFailed, waveTokens, waveOptOuts,
        waveShareWrong,
        waveRest, waveCount, hoursTitle, hoursText, hoursRuleLabel, hoursAsService, hoursPostpone, hoursDrop,
        hoursIgnore,
        planTitle,
        planWaiting, planNext, planUnknownZones,
        waveWaiting, waveOpen, wavePassed, waveResumed, waveHeld,
        waveNever, waveEnded, waveBehind, waveBehindHeld, waveAfter, waveDue, waveWaitsFor,
        waveZonesFirst, waveGuards, guardFailed, guardTokens,
        guardOptOuts,
        byWaveTitle, reasonLocalTimeOver,
        reasonOutsideHours, auditPlan, auditHours
    // The sending hours of a service.
    case hoursFormTitle, hoursFormText, hoursLineHint, hoursLineWrong, dayOne, dayTwo, dayThree, dayFour, dayFive,
        daySix,
        daySeven, daysOffLabel, daysOffHint, fieldTimeZone, timeZoneHint, hoursChanged, hoursNone, hoursNoMessages
    // The approval rule of a service.
    case approvalRuleTitle, approvalRuleText, approvalRuleField, approvalRuleHint, approvalRuleWrong, approvalRuleAbove,
        approvalRuleNone, approvalRuleChanged, approvalRuleUsers
    // The frequency caps of a service.
    case capsOfService, capsText, noCaps, columnRule, capSentence, capInHours, capInDays, capOnRecipientDay,
        capAllCategories, capNew, capChangeTitle, capFormText, capMaxMessages, capLength, capLengthHint,
        capLengthWrong, capNumberWrong, capPer, capPerDays, capPerHours, capPerRecipientDay, capCategory,
        capCategoryHint, capRemoveTitle, capRemoveText, doneCapSet, doneCapRemove, auditCapSet, auditCapDrop
    // Finding a message.
    case findMessageTitle, findMessageNote, findMessageID, findMessageDelivery, findMessageDeliveryHint, findNoMessage,
        findDeliveryWrong, columnTakenFor, columnGatewayID, idOfMessage, idUUID, idDecimal, idHexadecimal, idOfGateway,
        findingExpired, findingNoMessage, findingNoDelivery, findingNeedsDelivery, findingUnreadable, findingNothing
    // Messages of a delivery.
    case messagesOfTitle, messagesOfHint, messagesOfNote, showMessages, columnMessage, columnAttempt, noMessagesHere,
        noMessagesSuch, messagesLookedAt, lookOnLower, highestNumbers, lowerNumbers, gatewaySlow,
        gatewaySlowHint
    // Seed addresses.
    case seedsTitle, seedsNote, noSeedsYet, newSeedTitle, newSeedText, newSeedButton, seedNameHint, seedLabel,
        seedLabelHint, seedBy, seedPushToken, seedWanted, seedWantedHint, seedLocaleHint, seedVariables,
        seedVariablesHint, seedVariablesWrong, seedLocaleWrong, seedGoneRemedy, seedWell, seedOnly, columnSeed,
        seedRemoveTitle,
        seedRemoveText, seedRemoveButton, doneSeedAdd, doneSeedRemove, manageSeeds, auditSeedAdd,
        auditSeedRemove
    // Exclusion lists.
    case listsNote, noLists, listGone, listGoneRemedy, missingList, newListTitle, newListText, newListButton,
        listNameHint, listLabel, columnList, listStays, listDeliveries,
        listDeleteTitle, listDeleteText, listDeleteButton, doneListAdd, doneListDelete, doneListPut,
        doneListTake, doneListFind, listPut, listTake, listFind, peopleUserKeys, peopleSubscriptions,
        peoplePushTokens, peopleTitle, peopleNote, peopleBy, peopleWanted, peopleHint, peopleWrong, peopleNotShown,
        peopleNone,
        peopleTooMany, manageLists, relatedPages, firstRows, moreRows, auditListAdd, auditListRemove,
        auditListPut, auditListTake, auditListFind
    // Saved audiences.
    case audiencesTitle, audiencesOf, audiencesNote, noAudiences, newAudienceTitle, newAudienceText, newAudienceButton,
        audienceNameHint, columnAudience, columnFilter, audienceUncounted, audienceCounting, audienceMeaning,
        audienceExcluded, audienceMadeBy, audienceChangedBy, audienceCounted, audienceCount, audienceFilterHint,
        audienceCopies, audienceSave, audienceExists, audienceEmpty, audienceDeleteTitle, audienceDeleteText,
        audienceDeleteButton,
        audienceSampleTitle, audienceNoSample, doneAudienceSave, doneAudienceCount, doneAudienceDelete, audienceFrom,
        audienceNone, audienceChoose, audienceKeepName, audienceKeepHint, audienceKeep, audienceOrigin,
        auditAudienceSave, auditAudienceRemove
    // The control group of a service.
    case controlTitle, controlTitleOf, controlText, controlNone, controlShare, controlSince, controlCategories,
        controlCategoriesHint, controlAll, controlMembers, controlOthers, controlMembersOf, controlResults,
        controlResultsNote, controlNoResults, columnDone, controlPercent, controlPercentHint, controlPercentWrong,
        controlSave, controlChanged, auditControlGroup
    // Health signals.
    case signalsTitle, signalsNote, noSignals, noSignalsYet, newSignalTitle, newSignalText, signalSource,
        signalSourceHint,
        signalSelector, signalSelectorHint, signalGood, signalBelow, signalAbove, signalInterval, signalTimeout,
        signalReaction, signalReactionHint, signalStaleAfter, signalStaleAfterHint, signalNumberWrong,
        signalSaveButton, signalRemoveTitle, signalRemoveText, doneSignalSet, doneSignalRemove, columnSignal,
        columnAge, signalUnused, signalStale, signalFresh, followTitle, followText, followNone, followTarget,
        followTargetHint, followTargetWrong, followCeilingLow, followFloor, followFloorHint, followCeiling,
        followCeilingHint,
        followSaveButton, doneFollow, auditFollow, auditKindSignal
    // The rate of a delivery.
    case rateTitle, rateText, rateVoids, rateFollows, auditRate
    // Events.
    case eventsTitle, eventsNote, eventsConsumers, eventsAllServices, eventsNeverRead, noConsumers,
        columnConsumer, columnService, columnEventKinds, columnBehind, columnGiven, columnLost, columnRead,
        columnReader, webhooksTitle, webhookActive, webhookInactive, columnAccepted, columnAcceptedAt, columnAttempts,
        deadLettersTitle, deadLettersNote, columnNumber, columnEvents, gapsTitle, gapFrom, gapThrough, gapAge, gapSize,
        gapRestored
    case consumerNew, consumerText, consumerAge, consumerAgeHint, consumerKindHint, consumerReaderHint,
        consumerReaderWrong, consumerReaderAll, consumerRemove, consumerRemoveTitle, consumerRemoveText,
        doneConsumerAdd, doneConsumerRemove, webhookNew, webhookNewTitle, webhookNewText, webhookURL, webhookURLHint,
        webhookMaxEvents, webhookMaxEventsHint, webhookPause, webhookResume, webhookAddress, webhookAddressTitle,
        webhookAddressText, webhookAddressMaxHint, doneWebhookAddress,
        webhookRotate, webhookRotateTitle, webhookRotateText, webhookOverlap, webhookOverlapHint, webhookRemove,
        webhookRemoveTitle, webhookRemoveText, doneWebhookPause, doneWebhookResume, doneWebhookRemove, secretTitle,
        secretText, secretBack, noSecretKey, letterResend, doneLetter
    case auditKindConsumer, auditKindWebhook, auditWebhookSecret, auditWebhookEnable, auditWebhookDisable,
        auditWebhookResend
}
