// swift-format-ignore-file
//
// The lexicon is a text in a source file, not a resource: it is part of every program that routes, needs no file beside
// the program, and an embedded resource of this size (an array literal) takes the compiler most of a minute.

/// The cues of ``Lexicon``, in the form that its parser reads.
enum LexiconText {
    static let all = #"""
# Cues of English and Chinese: words that tell what somebody wants. Language knowledge only; skills are never named:
# a skill owns a group when its manifest uses words of the group.
#
# [name kind key=value ...] starts a group; the lines below list its terms, separated by commas.
#   topic    something that a skill may do. role= tells how its output relates to other steps (see Role).
#   deed     a topic that needs a device, an account or live data: nothing else can stand in for a missing skill.
#   plan     a wish that takes several topics one after another: steps= names them in order.
#   grammar  holds sentences together; means no skill.
# A term's weight is 0.85, or what follows "=" ("who=0.6"); "~" at its end stands for 0.4.
# "^" at its start: only where a clause begins (after "please", "帮我" and the like).
# "@" names a shape that is found by looking at numbers and languages rather than words.

[summarise topic role=transform]
几条结论=0.7, 整理个大概, 整理成几条, 懒得爬=0.6, 短短一段, 写短=0.5, brief of=0.6, in brief
大概意思, 大致意思, 大概什么意思=0.8, 大概是什么意思=0.8, 什么意思就行=0.6, 想说啥=0.7, 想说什么=0.7, 想讲什么=0.7, 想讲乜=0.7, 导读=0.6, 简介=0.5, whats it about=0.8, whats this about=0.8, what it is about=0.7, what it says=0.6, what they are saying=0.5, what it boils down to, make it fit=0.4, in like=0.2
写成一段=0.6, 写成一小段=0.6, 写成一页=0.5, 两句讲完=0.7, 一句讲完=0.7, 两句说完=0.7, 三句讲完=0.7, 一句说完=0.7
cut this down=0.75, cut that down=0.75, cut down to=0.7, shrink=0.6, whittle=0.6, pare down, to a paragraph=0.6, in a paragraph=0.55, lines tops, short and sweet=0.6, the short of it, the long and short, give me the gist, the nub, catch me up=0.7, bring me up to speed, up to speed=0.6, what did i miss=0.6, the upshot, the bones of it=0.6, the important bits=0.7, important parts=0.6, what matters in=0.5, elevator pitch=0.6, skim read, speed read, no time to read, can not be bothered to read=0.7, havent time to read, without reading, read it for me=0.6, lite version, quick version, condensing
简版=0.7, 简短版, 精简版, 浓缩版, 简化版=0.6, 省流版, 一句话版, 要紧的=0.6, 挑重点, 挑要紧, 拣要紧, 拣重点, 捡重点, 抓重点, 核心意思, 中心意思, 概略, 扼要, 简明扼要, 言简意赅, 两三行, 三两行, 几行字=0.6, 两三句, 三言两语, 一小段=0.4, 心里有数=0.6, 心里有个数=0.7, 看不完=0.6, 看不过来=0.6, 来不及看=0.7, 来不及读=0.7, 懒得看=0.6, 懒得读=0.6, 看不下去=0.5, 说重点, 讲重点, 讲咩=0.6, 讲乜=0.6, 讲紧乜=0.7, 讲啲咩=0.7, 到底说啥=0.7, 主要说=0.6, 主要讲=0.6, 删繁就简, 缩小到=0.6, 缩成, 缩至, 缩写到, 字以内=0.5, 以内概括, 懒人包, 重点整理, 划出重点, 大概讲
a couple of lines=0.6, a few lines=0.6, in plain words=0.5, what this says=0.6, what this memo says=0.7, condensed version
说的是啥, 讲的是啥, 讲的啥, 说了啥, 讲了啥, 缩成, 缩到, 几句话讲清楚, 大概内容=0.6, 快速了解=0.6
main idea here, the main idea, quick summary, brief me, skim, brief=0.5, key findings, conclusions=0.4, crux, core message
太长不看, 讲重点, 整理成要点, 归纳成, 概括成, 总结成, 浓缩成, 写个摘要, 文摘
the summary, that summary, 摘要里, summarise, summarize, summary, summaries, summarisation, summarization, summing up, sum up, sum it up, condense, condensed, digest, gist, tl;dr, tldr, tl dr
abstract, précis, precis, synopsis, recap, recapitulate, abridge, abridged, in a nutshell, nutshell, in brief=0.7, briefly=0.5, brief overview, in short=0.6, long story short
boil down, boil it down, boil this down, boil that down, main points, main point, key points, key point, main ideas, main idea, key ideas, key idea, key takeaways, main takeaways, takeaway, takeaways, key facts, essentials=0.6, essence=0.6
bullet points=0.6, bullets=0.6, bullet=0.6, short version, shorter version, shorten, shorter=0.7, make it short, make it shorter, cut it down, cut down=0.5, trim~, compress=0.5, distil, distill, executive summary, overview=0.5, outline=0.6, highlights=0.6, wrap up~, rundown, bottom line, cliff notes
what is it about=0.8, what is this about=0.8, what is this document about=0.8, what is this text about=0.8, what is that about=0.7, what does it say=0.8, what does this say=0.7, too long=0.5, too wordy=0.6, more concise, concise=0.6, less text~, in a few words, in one sentence=0.6, as a single sentence=0.6, single sentence=0.5, in two sentences=0.6, in three sentences=0.6, one sentence=0.5, two sentences=0.5, three sentences=0.5, few sentences=0.5, one paragraph=0.4, short paragraph=0.5
总结, 总结一下, 概括, 概括一下, 概述, 摘要, 概要, 提要, 梗概, 归纳, 简述, 缩写, 缩短, 缩减, 精简, 浓缩, 提炼, 要点, 大意, 主旨, 省流, 小结, 综合概括, 内容提要, 内容总结
重点=0.6, 划重点, 说重点, 中心思想, 主要内容, 核心内容, 核心观点, 主要观点, 关键信息=0.6, 简要=0.6, 简短=0.6, 简单说说, 长话短说, 一句话概括, 压缩=0.6, 压缩到, 压缩成, 精炼
讲了什么, 说了什么, 讲的是什么, 说的是什么, 讲了些什么, 说了些什么, 写了什么, 讲什么=0.6, 说什么=0.5, 太长了=0.6, 太长=0.5, 太啰嗦=0.7, 啰嗦=0.6, 短一点=0.8, 短一些=0.8, 短点=0.8, 更短=0.8, 再短=0.8, 简洁=0.6, 速览, 速读, 长文=0.3, 没空看=0.5, 没时间看=0.5, 没时间读=0.5, 几句话=0.6, 一句话=0.6, 两句话=0.6, 三句话=0.6, 一两句=0.6, 三点=0.4, 三条=0.4, 干货=0.4, 一分钟=0.3

[keywords topic role=extract]
重要名词=0.7, 名词挑=0.6, never tagged=0.6, untagged
headings people would, subject heading, 归类用=0.5, 哪些标签, 贴哪些标=0.7, 打哪些标=0.7, 底下的标签
search tags, tag cloud, catalogue terms, what would somebody type=0.6, people search for=0.5, searchable terms, which terms=0.6, buzzword, catchwords, index entries, for indexing, make it findable=0.6, findable=0.5, meta keywords, core vocabulary
检索用词, 搜索词, 搜索关键词, 搜索用的词=0.7, 方便检索=0.7, 便于检索=0.7, 标签词, 打几个标签, 贴标签, 贴几个标签, 加标签, 加几个标签, 核心词汇, 核心概念=0.5, 关键名词, 专有名词=0.5, 专业词=0.5, 高频词汇, 关键字眼, key terms
which words=0.6, words that matter=0.6, best describe this=0.5, vocabulary=0.5, most important words, important vocabulary
重要的词, 最重要的词, 关键的词, 核心的词
main topics=0.6, which topics=0.6, topics this=0.5, topics does=0.5, buzzwords, index words, tagging
哪些术语, 什么术语, 话题标签
keyword, keywords, key word, key words, key phrase, key phrases, keyphrase, keyphrases, key term, key terms, tag, tags, hashtag, hashtags, tag it, index term, index terms, terminology, important terms, important term, important words, important phrases, significant words, significant terms, significant phrases, main terms, core terms, core concepts=0.5, key concepts=0.6, subject terms, subject headings, descriptors, topic words, most frequent words, frequent terms, main topics=0.5, topics~, terms=0.6, term~, phrases=0.5, labels=0.5, glossary=0.5, word frequency, nouns=0.4, index it under, search terms, seo
关键词, 关键字, 关键短语, 关键词语, 关键信息词, 主题词, 主题标签, 标签, 打标签, 术语, 核心词, 核心术语, 热词, 高频词, 词频, 索引词, 检索词, 重要词, 词汇=0.4, 名词=0.4, 索引~, 几个词=0.6, 哪些词=0.6, 关键概念=0.6

[translate topic role=transform]
看不懂法文=0.5, 翻给我=0.7, 翻给=0.6, 一个字也看不懂=0.5
中文给我写=0.6, 英文给我写=0.6, 看不懂=0.3
into polish, in polish=0.7, polish version, polish translation, rendering, an english rendering, render this=0.6, rendered into, put into=0.3, put that in=0.4, put this in=0.4, put it in=0.4, say in=0.4, would you say in, how would i say=0.75, how would you say=0.75, how would one say=0.75, how would they say=0.75, how would a=0.3, native language=0.5, mother tongue=0.5, own language=0.6, can not read=0.3, foreign language=0.4, transliterate, subtitles=0.4, in plain english~
母语的=0.6, 母语=0.5, 译本=0.6, 译得, 翻出来=0.6, 翻成, 译做, 译返=0.7, 译返做, 弄成英文, 弄成中文, 写成英文=0.7, 写成中文=0.7, 外文=0.5, 看不懂英文=0.6, 看不懂日文=0.6, 不懂中文=0.5, 不懂英文=0.5, 点讲=0.6, 点样讲=0.7, 点样写=0.4, 英文点=0.7, 英文怎, 中文怎, 对照翻译, 逐句翻, 字幕翻译
the translation, translate, translating, translation, translations, translator, localise, localize, localisation, how do you say, how to say, how do i say, translate into, render~, interpret~, bilingual=0.4, @language
翻译, 译成, 译为, 译作, 翻成, 翻译成, 翻一下, 翻下, 译文=0.5, 译, 译一下, 英译中, 中译英, 汉译英, 英译汉, 日译中, 中译日, 互译, 直译, 意译, 怎么说=0.5, 怎么讲=0.3, 口译, 笔译, 本地化=0.5

[rewrite topic role=transform]
rewrite, rephrase, paraphrase, reword, polish, proofread, grammar, spelling, spell check, spellcheck, correct the grammar, fix the grammar, edit my, tone, formal tone, more formal, more polite
润色, 改写, 校对, 语法, 错别字, 病句, 改得, 语气, 更正式, 重写, 扩写, 续写, 仿写

[sentiment topic role=extract]
sentiment, sentiment analysis, positive or negative, emotion analysis, opinion mining
情感分析, 情感倾向, 情绪分析, 褒贬, 正面还是负面

[classify topic role=extract]
classify, classification, categorise, categorize, which category, category, named entities, entities, entity recognition, extract names, extract dates, extract the dates
分类, 归类, 类别, 实体, 实体识别, 提取人名, 提取日期

[code topic]
code, source code, coding, program, programming, debug, refactor, unit test, regex, regular expression, script, python, javascript, sql query, compile, stack trace
代码, 编程, 程序, 写代码, 调试, 重构, 正则, 脚本, 单元测试, 报错

[image topic]
image, picture of, photo of, draw, draw me, generate an image, caption this image, describe the image, ocr, illustration, diagram, chart, plot
图片, 图像, 画一, 画个, 画张, 生成图, 看图, 识图, 文字识别, 插图, 图表, 画图

[speech topic]
read aloud, read it aloud, text to speech, speak this, pronounce, pronunciation, transcribe, transcription, transcript, dictate, speech to text
朗读, 念出来, 读出来, 语音合成, 发音, 转写, 听写, 语音转文字, 录音转

[fetch topic role=source]
fetch, download the page, web page, webpage, website, url, link, open the link, crawl, scrape
网页, 网址, 链接, 抓取, 爬取, 网站

[lookup topic role=source]
dig out=0.5, dig up=0.5, check what=0.5, what do we know about=0.6, whats in the docs, on file=0.4, in our records=0.6, in the wiki, in the handbook, have we got anything on=0.7, have we anything on=0.7
翻一翻, 翻翻, 找找=0.6, 找一找, 查清楚, 查明, 查完=0.4, 摸一遍=0.7, 摸清=0.6, 摸底=0.6, 内部资料, 内部文档, 内网, 公司文件=0.6, 我们的文档, 有冇资料=0.7
look up, look it up, look anything up, looking up, lookup, search, search for, search in, retrieve, retrieval, consult, knowledge base, in our docs, in the docs, according to the docs, according to, documentation, handbook, in the manual, manual=0.6, find out=0.6, find material, find information, find the section, find=0.4, any information on, material on, what does the handbook say, wiki, faq
查一下, 查下, 查一查, 查查, 查找, 查询, 检索, 搜索, 搜一下, 搜一搜, 搜, 查阅, 查资料, 查, 找一下=0.5, 找资料, 知识库, 资料库, 资料=0.5, 文档里=0.6, 文档中=0.6, 根据文档, 手册里, 手册, 百科, 有没有关于=0.7, 相关资料

[question topic role=source]
full form of=0.7, difference between a=0.7, the difference between=0.7, never did understand=0.5, never understood=0.6, 几时到=0.4
几天=0.45, 多少天=0.5, 几个月=0.45, 几年=0.45, 提前几天=0.6, 提前多久=0.65, 什么条件=0.6, 有没有权=0.6
how come=0.65, what exactly is=0.7, whats a=0.65, what counts as=0.6, ^does this=0.4, ^what kind of=0.5, who painted, who composed, who founded, who discovered, who directed, ^who painted=0.75, ^who invented=0.75, ^who wrote=0.75, ^who discovered=0.75, ^who founded=0.75, ^when was=0.75, ^when did=0.75, how does it work=0.6, how do they work=0.6, whats the deal with=0.6, educate me on=0.7, run me through=0.5, walk me through=0.5, get my head round=0.5, whats the difference=0.7, according to the policy, the rule on=0.6, rules on=0.6, rules about=0.6, how many days=0.45, how much notice=0.6, entitled to=0.5, am i allowed to=0.6, are we allowed to=0.6
点解=0.7, 咩嚟=0.6, 系咩=0.55, 系乜=0.6, 乜嘢系=0.7, 咩系=0.7, 有咩分别=0.7, 有咩唔同=0.7, 有咩区别=0.7, 边个=0.55, 边位=0.6, 边年=0.7, 几时=0.55, 几耐=0.45, 点样=0.4, 哪个朝代=0.75, 哪国=0.65, 哪朝=0.7, 哪部=0.5, 是咋=0.6, 咋回事=0.65, 咋=0.35, 啥是=0.7, 啥叫=0.7, 何谓=0.75, 何为=0.7, 所谓=0.3, 科普=0.7, 讲解=0.65, 有什么区别=0.7, 有何区别=0.7, 有什么不同=0.65, 了解一下=0.55, 了解吓=0.6, 想知道=0.55, 想了解=0.6, 谁发明=0.8, 谁写=0.65, 谁画=0.75, 谁提出=0.75, 开始修=0.4, 从哪来=0.4, 哪来=0.4, 来龙去脉=0.6, 的规定=0.5, 按规定=0.5, 要几天=0.5, 需要几天=0.5, 算不算=0.5, 适用于=0.4
in which year=0.7, which year=0.65, in what year=0.7, what year=0.6, reason for=0.5, reasons for=0.5, guideline=0.45, guidelines=0.45, do we have a=0.45, is there a=0.45, is there any=0.4
定律=0.45, 理论=0.4
^is=0.4, ^are=0.3, ^was=0.4, ^do=0.2, ^can=0.2, ^should=0.3, the meaning of=0.65, mean=0.4, definition of, what does it mean, means=0.4, ^name the=0.5, ^describe=0.55, ^tell me how=0.6, how to=0.55, policy=0.35, policies=0.35, procedure=0.35, history of=0.5
有多高=0.6, 有多长, 有多大, 有多少, 是不是=0.4, 是什么时候, 怎么样=0.3, 意思=0.45, 有何, 指的是, 是指, 规定=0.3, 制度=0.3, 流程=0.35, 历史=0.35
question~, questions~, factual, fact~, facts~, definition, define, meaning of, explain, explanation, difference between, tell me about, tell me what, do you know what, concept~, faq~
^who=0.6, ^who is, ^who was, ^who wrote, ^who invented, ^when=0.5, ^when did=0.7, ^when was=0.7, ^where=0.5, ^where is=0.65, ^why=0.65, ^why do=0.7, ^why is=0.7, ^which=0.5, ^how=0.45, ^how do=0.5, ^how does=0.75, ^how did=0.65, ^how is=0.55, ^how are=0.45, ^how can=0.5, ^how many=0.5, ^how much=0.4, ^how long=0.5, ^how far=0.55, ^how old=0.55, ^how big=0.55, ^how tall=0.6, ^what=0.45, ^what is=0.55, ^what is a=0.7, ^what is the=0.55, ^what are=0.5, ^what was=0.6, ^what does=0.5, ^what do=0.45, ^what causes=0.75, ^what happened=0.7, ^whose=0.5, ^does=0.4, ^did=0.4, ^is there=0.4, ^are there=0.4, who wrote, who invented, who discovered, who is=0.5, what is=0.4, what the=0.4, what are=0.35, capital of, default~, more examples=0.4
是多少=0.5, 什么是, 是什么=0.6, 什么叫=0.75, 什么意思=0.6, 是什么意思=0.65, 是谁=0.65, 谁=0.55, 为什么=0.7, 为何=0.65, 为啥=0.65, 怎么=0.45, 怎样=0.45, 如何=0.5, 怎么回事=0.6, 哪里=0.45, 在哪=0.5, 在哪里=0.55, 哪个=0.5, 哪些=0.4, 哪一年=0.75, 哪年=0.7, 哪位=0.6, 哪种=0.55, 哪一=0.5, 什么时候=0.6, 何时=0.6, 多少=0.4, 多长=0.55, 多大=0.5, 多高=0.6, 多远=0.55, 多深=0.6, 多久=0.45, 几个=0.25, 区别=0.65, 不同=0.3, 差别=0.6, 解释, 解释一下, 定义=0.75, 原理=0.7, 介绍=0.65, 介绍一下=0.75, 含义=0.65, 概念=0.6, 作者=0.5, 是怎么=0.6, 是如何=0.65, 告诉我=0.45, 讲讲=0.4, 问答, 事实性, 说明=0.35, 什么=0.35, 优缺点=0.6, 缺点=0.5, 优点=0.5, 例子=0.3

[calculate topic role=compute]
剩多少=0.7, 还剩多少=0.7, 剩几多=0.7, 剩返几多=0.7, 剩多少钱, left over=0.5, how much is left=0.7, how much have i got left=0.7
vat=0.35, vat at=0.75, tax on=0.4, tip on=0.6, per cent=0.55, of that=0.2, times table, double=0.3, twice=0.3, in binary=0.75, in hexadecimal=0.75, in hex=0.7, in octal=0.75, binary=0.4, decimal=0.4, roman numerals=0.5, tot up=0.75, tally=0.6, add these up, adds up to=0.6, owe in total=0.75, what i owe=0.6, in total=0.4, altogether=0.4, come to in total=0.7, split between=0.6, split it between=0.7, each person pays=0.7, how much each=0.7, per head=0.5, profit margin=0.5, mark up=0.3, discount=0.4, off the price=0.5, mean of=0.6, median=0.6, standard deviation, prime number=0.5, is it prime=0.6, to the nearest=0.5, round to=0.5, in fahrenheit=0.7, in celsius=0.7, to fahrenheit=0.75, to celsius=0.75, in c=0.4, in f=0.4
根号, 根号下, 开根号, 开根, 二进制=0.7, 十六进制=0.7, 八进制=0.7, 十进制=0.5, 合计=0.6, 合共=0.6, 总计=0.6, 共计=0.55, 总共多少=0.4, 一共多少=0.4, 加起来=0.75, 加埋=0.75, 加总, 结余=0.6, 收支=0.5, 盈亏=0.5, 净赚=0.6, 净收入=0.5, 抹零=0.4, 平均=0.4, 人均=0.6, 每人多少=0.7, 每人几多=0.7, 均摊, 分摊=0.5, aa制=0.6, 几钱=0.55, 几多钱=0.6, 计下=0.7, 计吓=0.7, 计一计=0.7, 计计=0.6, 帮我计=0.7, 折后=0.6, 税后=0.5, 税前=0.4, 增值税=0.35, 扣税=0.4, 涨幅=0.4, 同比=0.4, 环比=0.4, 增长率=0.5, 换成人民币=0.6, 折合=0.7, 折算, 等于几多=0.8, 系几多=0.6, 得多少=0.6, 得几=0.6, 质数=0.5, 公约数, 公倍数, 勾股, 面积=0.4, 圆周
half of=0.5, a third of=0.5, a quarter of=0.5, area of a=0.6, area of the circle=0.7, circumference=0.7, perimeter=0.7, volume of a=0.6, radius=0.4, split the bill, hypotenuse
的面积=0.5, 周长=0.6, 体积=0.5, 半径=0.5
multiply=0.7, divide=0.6, subtract=0.7, add up=0.6, divisible by, remainder, cubed=0.6, squared=0.6, currency conversion, the number of=0.3, equal to=0.5, equals=0.6, equivalent=0.3
相乘, 相加, 相减, 相除, 余数, 倍=0.4, 总和=0.5, 百分之
calculate, calculation, calculator, compute, computation, arithmetic, maths, mathematics, math, equation, equations, solve=0.7, work out=0.6, how much is=0.6, what is the sum, average of, sum of=0.7, square root, cube root, sqrt, factorial, percent=0.5, percentage, percentages, interest rate=0.5, compound interest, monthly payment, tip~, convert=0.4, convert units, unit conversion, to the power, logarithm, @arithmetic, @units, @wordproblem
计算, 算一下, 算下, 算算, 算一算, 算出, 算, 等于, 等于多少, 等于几, 加上=0.4, 加到=0.5, 减去=0.6, 乘以, 除以, 平方=0.6, 平方根, 开平方, 开方, 立方, 次方, 百分比, 方程, 解方程, 利息=0.7, 利率=0.6, 年利率=0.6, 月供, 每月还, 平均数, 平均分, 平均值, 求和, 求 x, 换算, 数学=0.7, 算术, 四则, 打折=0.4, 折扣=0.4, 平摊, 单位换算, 阶乘, 对数, 三角函数

[greeting topic role=talk]
how ya, how you doing, how have you been, how you are, hows it going, hi how, what is new, what is going on=0.6, sup=0.6, until next time, talk to you later, see ya, later=0.3, have a good day, have a nice day, take care
改天聊, 回头见, 回见, 下次见, 最近好吗, 你最近
^hello, ^hi=0.8, ^hey=0.7, hello there, hi there, good morning=0.8, good afternoon=0.8, good evening=0.8, good night=0.8, goodnight, ^bye=0.8, goodbye, see you, how are you, how are you doing, how is it going, what is up, whats up, nice to meet you, greetings, howdy, welcome back, are you there, anyone there
你好, 您好, 哈喽, 哈啰, 嗨, 早上好, 早安, 早啊, 下午好, 晚上好, 晚安, 再见, 拜拜, 在吗, 在不在, 你在吗, 在干嘛, 干嘛呢, 很高兴认识你, 明天见, 最近怎么样, 吃了吗, 好久不见, 问候, 新年快乐, 生日快乐

[thanks topic role=talk]
brilliant=0.5, lovely=0.4, legend=0.4, you are a star, you are a legend, ta=0.4, nice one=0.6, good bot, spot on=0.5, impressive=0.5, smart cookie
厉害=0.6, 真行=0.6, 真聪明, 太强了, 牛啊, 给力, 唔该=0.5, 唔该晒, 多谢晒, 劲=0.3, 好犀利, 犀利=0.5, 靠谱=0.4, 棒=0.3, 点赞
thanks=0.6, thank you=0.6, thx=0.6, thank you so much, thanks a lot, appreciate it=0.6, cheers=0.5, well done, great job, good job, you are great, you are awesome, sorry=0.6, my mistake, my bad, never mind, no problem=0.6, i love you, congratulations, ok great=0.5
谢谢=0.6, 感谢=0.5, 多谢=0.6, 谢了=0.6, 辛苦了, 帮大忙了, 太棒了, 真棒, 真厉害, 对不起, 抱歉, 不好意思=0.4, 没关系, 不客气, 嗯嗯, 好的=0.5, 好吧=0.5, 知道了=0.5, 明白了=0.5, 你真, 夸夸, 恭喜

[feelings topic role=talk]
knackered, gutted, fed up, had a day=0.5, rough day, long day=0.5, cant sleep, homesick, heartbroken, anxious=0.5, overwhelmed, burnt out, chuffed, over the moon, failed my=0.5, dumped=0.5, nobody listens
好攰, 好眼瞓, 好闷=0.6, 好嬲, 唔开心, 激气, 气死, 委屈, 想家, 失眠, 崩溃, 心累, 好崩溃, 绷不住, 压抑, 好孤单, 没人懂, 被骂, 挂科=0.5, 考砸, 好想哭, 好想放假, 上班好累
feelings, i am bored, i feel, i am so, i am tired, i am sad, i am happy, i am lonely, feeling down, feeling lonely, bored, lonely, haha, lol, hahaha, i am stressed, cheer me up, comfort me, i got the job, i passed, i miss=0.6, bad day, good day=0.6, excited=0.6, tired=0.6, stressed=0.6, sad=0.6
心情, 情绪, 难过, 伤心, 开心, 高兴=0.6, 好累, 累死, 很累, 好烦, 烦死, 失恋, 分手, 无聊, 寂寞, 孤独, 郁闷, 焦虑, 压力大, emo, 哈哈, 哈哈哈, 呵呵, 嘿嘿, 加班到, 睡不着, 想哭, 安慰, 好难, 好开心, 好紧张

[fun topic role=talk]
a fact about, fact about=0.7, cool fact, fun facts, random fact, interesting fact, facts about=0.5, entertain me, make me smile, trivia=0.6, pun=0.6
冷知识, 有趣的事, 逗我笑, 讲个有趣
joke, jokes, something funny, funny story, tell me a story, short story, a story=0.7, stories=0.7, poem, poems, poetry, haiku, limerick, riddle, sing me, sing a song, a song about, fun fact=0.7, make me laugh, make up, write me a poem, bedtime story, play a game, roleplay, role play, name for my, give it a name
笑话, 段子, 讲故事, 故事, 小故事, 诗, 写诗, 小诗, 一首诗, 谜语, 猜谜, 脑筋急转弯, 绕口令, 逗我, 唱首歌, 唱歌, 对联, 起个名字, 取个名字, 起名, 祝福语, 情书, 藏头诗

[opinion topic role=talk]
thoughts=0.4, what would you do=0.7, would you=0.15, be honest=0.5, which would you=0.6, is it weird that, is it ok that, am i overreacting, should i=0.55, what do i get=0.4, gift ideas, ideas for=0.5
你怎么想, 你点睇, 点睇=0.5, 你话=0.4, 你说我, 我该=0.55, 我应该=0.5, 该怎么办, 点算=0.6, 点好=0.5, 送什么好=0.6, 送咩好, 哪个好=0.4, 值不值得=0.5, 你选哪个, 你会选
opinion, opinions, what do you think, do you think, your favourite, your favorite, do you like, do you prefer, would you rather, advice=0.7, give me some advice, any advice, any suggestions, suggestions for=0.6, what should i do, recommend me, recommendations for=0.5, i think=0.4, any ideas for=0.5
你觉得, 你认为, 你喜欢, 你怎么看, 看法=0.6, 建议=0.6, 怎么办=0.7, 有什么好玩, 好玩的, 推荐一下=0.5, 有什么推荐, 要不要=0.4, 该不该=0.6, 给点建议, 意见=0.4

[assistant topic role=talk]
what can i ask, ask you, can i ask you, you answer, can you answer, what topics can you, tell me about yourself, about yourself, your hobbies, your job, your creator, your designer, your maker, your age, your birthday, your favorite, your favourite, your pets, your family, an actual human, talking to a, a real person, what should i call you, call you, made you, created you, designed you, built you, ask the ai
你能做些什么, 你能做, 你能帮我做, 你可以做什么, 你会干什么, 你有什么, 你的主人, 你的爱好, 你的生日, 你的年龄, 你来自, 是机器人吗, 怎么称呼你
about the assistant, the assistant itself, who are you, what are you=0.7, your name, who made you, who created you, who built you, are you human, are you a human, are you a robot, are you a bot, are you real, are you an ai, are you=0.6, what can you do, what do you do=0.7, how old are you, where are you from, do you sleep, do you dream, do you have=0.5, do you ever, can you feel, what is your=0.7, introduce yourself, help me with what, @you
你是谁, 你叫什么, 你叫啥, 你的名字, 你是什么, 你是机器人, 你是真人, 你是人, 你是ai, 你几岁, 你多大, 你会做什么, 你会什么, 你能做什么, 你能干什么, 你能干嘛, 你有什么功能, 谁创造了你, 谁开发了你, 谁做的你, 你从哪来, 你会=0.4, 你是不是=0.5, 自我介绍, 介绍一下你自己, 关于助手

[talk topic role=talk]
small talk, chat=0.8, chatting, talk to me, talk with me, let us talk, let us chat, lets chat, lets talk, just chat, just talk, have a chat, keep me company, keeping me company, conversation=0.6, tell me something=0.6
闲聊, 聊天, 聊聊, 聊聊天, 聊两句, 聊一聊, 聊会, 聊会儿, 陪我, 陪聊, 唠嗑, 说说话, 随便聊, 谈心

[cite topic role=annotate]
哪本书=0.5, 哪位学者说=0.7, 请注明=0.6, figure come from=0.7, come from=0.3
文献标注, 标注文献, 补上文献, 补文献, 从哪儿来=0.6, 从哪来的=0.5, author date, sources at the bottom, sources at the end
refs, ref=0.4, in vancouver=0.6, in harvard=0.6, in chicago=0.5, 列出出处, 附上文献, 列在后面=0.3
says who, where did you get=0.5, where did they get=0.5, back it up=0.6, back this up=0.65, back these up=0.65, back that up=0.65, backed up by=0.5, evidence for=0.4, list at the back=0.6, list at the end=0.5, give credit=0.5, credit the=0.4, credits=0.4, attribute=0.5, attribute this=0.6, quote the source, who said it first=0.5, references section, reference section, numbered references, in oscola, oscola, turabian, ama style, ibid, et al~, bib entry, bib file, zotero, endnote, mendeley
出自哪=0.8, 出自何处=0.8, 出自=0.6, 源自哪=0.7, 哪本书里=0.6, 哪部法=0.6, 第几条=0.5, 引注, 文内引注, 文中引注, 夹注, 注脚, 附注=0.6, 注释=0.5, 加注=0.6, 补注=0.6, 补上出处, 补出处, 标出处, 标来源, 标明出处, 标明来源, 写明出处, 写明来源, 附上出处, 附上来源, 附出处, 附来源, 列出处, 文献列=0.75, 列文献, 列出文献, 文献清单, 参考书目, 引文格式, 温哥华格式, 哈佛格式, 国标格式=0.7, gb7714, 著录格式, 引文, 谁说的=0.5, 有什么依据=0.6, 依据是什么=0.6, 凭什么说=0.5, 有没有根据=0.5, 佐证=0.6, 论据=0.4, 边度嚟=0.5, 边度来=0.5, 来源系=0.7
cite, cites, citing, cited, citation, citations, reference list, references, references list, referenced, referencing, reference=0.6, bibliography, bibliographic, works cited, bibtex, footnote, footnotes, endnotes, in text citation, in text citations, attribution=0.5, sources, source of=0.7, source=0.6, sourced, list of sources, cite the source, cite your sources, with sources, where does this come from, where does this claim come from, where does that come from, apa, apa style, mla, mla style, ieee style, ieee format, chicago style, harvard style, vancouver style, vancouver=0.5, in apa, in mla, doi, gb/t, gb/t 7714, isbn=0.5, provenance
引用, 引文, 参考文献, 参考资料=0.6, 文献=0.6, 文献列表, 文献出处, 出处, 来源, 标注来源, 注明来源, 标注出处, 脚注, 尾注, 书目, 引用格式, 引用清单, 国标样式, 芝加哥格式, apa格式, mla格式, 著录, 附文献, 带引用

[research plan steps=question,summarise,cite]
文献回顾, 文献探讨, 文献整理, 研究回顾
lit review, literature search, survey what has been, find out what has been written, write up the state of, overview of the field, prior work on=0.7, previous work on=0.7, what has been done on=0.7, put together a briefing, put together a report on=0.7
前人做过什么=0.8, 前人做过=0.75, 国内外研究, 研究综述, 研究动态, 行业调研, 做个调研, 写个调研, 做个综述, 写个综述, 写篇综述, 梳理一下文献, 文献梳理, 背景调查=0.6, 行业现状=0.5
dig into the literature, into the literature on, survey the field, survey the literature, write it up with sources, report with references, report with sources
调查一下=0.7, ^调查=0.7, 带出处的报告, 的现状=0.5
^research, research on, research the, ^investigate, investigate the, literature review, literature survey, survey of, survey on, write a survey, a survey=0.7, survey=0.7, state of the art in, review of the literature, deep dive into, background research, look into the trends, trends in=0.5, market research, referenced briefing, briefing on, sourced overview, sourced report, research report, report back with
调研, 调研一下, 调研报告, 调查报告, 调查研究, 文献综述, 综述, 研究一下, 研究下, ^研究, 研究现状, 研究脉络, 发展趋势=0.6, 研究进展=0.5, 最新进展=0.5, 现状分析, 市场研究, 研究报告=0.6, 深入研究, 做个研究

[booking deed]
seats for, seat for=0.6, two seats, a slot at=0.6, get me into=0.4, get us a table, get us in=0.5, squeeze us in, gp appointment, see the doctor=0.5, doctors appointment, haircut=0.5, book in
坐位=0.55, 订个位=0.8, 留个位=0.75, 留位=0.7, 定个位, 定位子, 订位子, 包厢, 订枱, 订台, 挂个号, 挂下=0.4, 门诊, 门诊号, 专家号, 看诊, 约医生, 约个医生, 约牙医, 洗牙, 订飞机票, 买飞机票, 买机票, 买高铁, 订民宿, 民宿=0.5, 约个时间=0.6
rental, car rental, rental car, a rental, a rental car, a room for, meeting room, table at=0.7, a table for, a reservation, tickets to, tickets for, boarding pass, check in for
的桌子=0.7, 餐厅预订, 餐馆=0.55, 会议室=0.55, 包间, 餐位, 座位
book a=0.9, book me, ^book, book an, book some, reserve a, reserve, reservation, reserve me, flight to, flights to, plane ticket, train ticket, buy a ticket, buy tickets, hotel room, a hotel=0.7, hotel=0.5, restaurant table, table for two, make an appointment, schedule an appointment, appointment, dentist, rent a car, check in online
订一张, 订张, 订机票, 机票, 火车票, 高铁票, 车票, 订酒店, 定酒店, 酒店=0.55, 订房, 订座, 订位, 订一, 预订, 预定, 预约, 挂号, 抢票, 抢一张, 门票, 买票, 演唱会, 租车, 退票, 改签

[alarm deed]
move my=0.5, reschedule, push my meeting, push the meeting, move the meeting
put in my diary=0.7, in my diary=0.6, pencil in, dont forget to=0.4, ping me=0.6, nudge me=0.7, give me a shout at, shout at me at, minutes on the clock=0.6, pomodoro
叫我一声=0.7, 喊我=0.6, 叫醒, 闹醒, 记得叫=0.7, 帮我记住=0.6, 加到日历, 加进日程, 排进日程, 排个会=0.7, 约个会议, 开个会=0.4, 倒数, 计个时, 响一下=0.4, 提一下醒, 提我=0.5
a meeting with, set up a meeting, set a meeting, schedule my, schedule a, ^schedule, arrange a meeting, arrange a, my meeting, my meetings, my schedule, on my agenda, wake me at, alarms, my reminders, reminders, dont let me forget, wanted to remember
我的提醒, 取消提醒, 所有提醒, 所有闹钟, 约个会, 安排一个会, 会议安排
set an alarm, alarm, set a timer, timer, set a reminder, remind me, reminder, wake me up, wake me, countdown, stopwatch, snooze, on my calendar, calendar, add to my calendar, schedule a meeting, meeting for tomorrow, to do list, my todo list, shopping list
闹钟, 闹铃, 定时, 倒计时, 计时, 提醒我, 提醒, 叫我起床, 叫醒我, 日程, 日历, 备忘录, 待办, 安排会议, 记一下~

[media deed]
stick on=0.4, put on some=0.7, put some=0.3, bit of music, tunes=0.6, on spotify, season of=0.3, next episode, last episode, rewind, fast forward
放点=0.5, 放个=0.4, 来点音乐, 来点歌, 换首歌, 单曲循环, 播首, 播下, 听下歌, 开大声, 细声啲, 大声啲, 静音, 下一集, 上一集, 快进, 倒带, 投屏
^listen to, listen to=0.7, hear the song, hear a song, hear some, hear=0.4, the song=0.7, this song=0.7, next tune, some music, music=0.5, album=0.5, ^watch=0.7, turn it up, louder, quieter, the movie=0.5, movie times, showtimes
音乐=0.5, 歌曲=0.5, 想听, 听一些, 听点, 的歌, 专辑=0.5, 歌单, 播放列表, 电影票, 电影院, 场次
^play, play some, play me, play the song, play music, music by, ^pause, skip this song, next song, next track, spotify, playlist, podcast, radio station, turn on the radio, netflix, youtube=0.5, watch a movie, the volume, volume up, volume down, volume
播放, 放一首, 放首歌, 放首, 放歌, 放点音乐, 来首歌, 来一首歌, 听歌, 听音乐, 暂停播放, 下一首, 上一首, 切歌, 音量, 大声点, 小声点, 声音调, 看电影, 放电影, 追剧, 收音机, 电台

[device deed]
调暗, 调亮, 太亮=0.5, 太暗=0.5, 降个=0.4, 降两度, 升两度, 温度=0.4, 开大点, 关小点
heating=0.5, heating up=0.7, heating on, whack the heating, the boiler=0.6, freezing in here=0.6, too dark in here=0.6, kettle=0.4, alexa=0.5, router=0.3, printer=0.5, print out, print off, copies of this=0.5, hoover=0.5, blinds, curtains=0.5
印三份, 印两份, 印一份, 印出来=0.65, 印几份=0.7, 打印出来, 列印, 影印=0.4, 开冷气, 冷气, 熄灯, 着灯, 开热水, 热水器, 净化器, 加湿器, 电饭煲, 油烟机, 摄像头=0.4, 监控=0.3, 开机, 连上wifi, 连wifi, 无线网, 手机找
turn the, turn my, switch the, switch my, ^lock, doors are locked, all doors, the doors, the door=0.5, the ac, the tv=0.55, tv=0.5, the heater, the fan, my phone, my cellphone, my cell phone, find my phone, lost phone, wi fi, my computer, my laptop, the oven, the lamp, sprinklers, set the temperature
我的手机, 手机在哪, 找手机, 电灯, 台灯, 风扇, 热水器, 关机, 音箱, 门锁
turn on, turn off, turn up, turn down, switch on, switch off, trun on, trun off, trun up, trun down, the lights, bedroom lights, kitchen light, dim the, thermostat, air conditioner, vacuum, start the robot, lock the, unlock the, unlock, open the door, close the door, garage, open the app, ^open=0.7, launch the, install the app, brightness, bluetooth, wifi, airplane mode, take a picture, take a photo, take a selfie, take a screenshot, screenshot, restart the, reboot, shut down, shutdown, battery, flashlight, print two copies, print this, ^print, printer
打开=0.6, 关掉, 关上, 关闭, 关灯, 开灯, 把灯, 的灯, 灯关, 灯打开, 空调, 暖气, 窗帘, 电视=0.5, 扫地, 洗衣机=0.5, 冰箱=0.5, 锁门, 开门, 车门, 亮度, 屏幕=0.5, 调低, 调高, 调大, 调小, 调到, 蓝牙=0.5, 无线网, 飞行模式, 手电筒, 拍照, 拍张照, 拍个照, 自拍, 截屏, 截个屏, 截图, 录屏, 录音=0.5, 重启, 关机, 开机, 打印, 复印, 安装应用, 卸载, 充电=0.4

[call deed]
发个微信, 发个短信, 发个消息, 发个信息, 发条微信, 发个邮件, 发封信=0.6, 发到=0.55, 微信说=0.6, 发个语音, 打个招呼给=0.5
text that to, text this to, text him=0.7, text her=0.7, text them=0.7, send that to, drop him a line, drop her a line, shoot him an email, shoot her an email, shoot an email, let mum know, let my=0.4, tell my boss=0.6, tell my mum=0.6, pass this on to, post this on, submit to=0.5, hand in=0.4, forward it to, forward to, cc me, reply all, give him a bell, give her a bell, give her a ring, give him a ring
寄给=0.8, 寄出=0.6, 寄送=0.6, 抄送, 发给=0.65, 传给=0.6, 转给=0.5, 转交=0.5, 提交到=0.8, 提交给=0.7, 提交上去=0.7, 递交=0.5, 上报给=0.5, 通知一下=0.6, 通知大家=0.7, 通知全=0.6, 知会=0.6, 跟他说=0.6, 跟她说=0.6, 话俾=0.6, 话畀=0.6, 打俾=0.8, 打畀, 覆返=0.5, 回他=0.5, 回她=0.5, 发到群=0.8, 发群里, 发个群, 群发, 发个朋友圈, 发帖=0.5, 私信
^message, ^text=0.5, let him know, let her know, let them know, a text to, a message to, a call to, a phone call, phone call, email to, an email to, ^inform, ^ring, facetime, voicemail, i am running late, i will be late, i am late
打给, 给他发, 告诉他, 告诉她, 通知他们, 语音留言, 微信给
^call, call my, call me, phone my, ^phone, make a call, dial, hang up, ^text my, text my, send a text, send a message, send an email, send an e mail, send the email, send this to, send it to, ^send, ^email, email my, reply to, message my, forward this to, post a tweet, tweet this, post on, whatsapp
打电话, 打个电话, 拨打, 拨号, 挂断, 电话给, 发短信, 发条短信, 发微信, 发消息, 发条消息, 发封邮件, 发邮件, 发个邮件, 发送邮件, 发送给, 发给他, 回复他, 回邮件, 转发给, 发朋友圈, 发微博, 视频通话, 请个假

[order deed]
珍奶, 叫一杯, 叫杯, 叫份, 叫一份, 送到公司=0.7, 送到我家=0.7, 送上门
get me a pizza, get us a pizza, uber eats, ubereats, deliveroo, doordash, just eat=0.5, add milk to=0.6, on amazon=0.5, off amazon=0.5, pay off=0.4, pay the=0.5, my parcel, where is my parcel, parcel=0.5, top up my, cancel the subscription, cancel the order, return these=0.4
快递走到, 快递到哪, 快递单, 包裹=0.55, 查快递, 查物流, 叫个外卖, 叫个快餐, 叫嘢食, 点个=0.5, 点杯, 来杯=0.5, 奶茶=0.5, 美团, 饿了么, 淘宝=0.4, 京东=0.4, 拼多多, 交水费, 交话费, 交房租, 缴水电, 还房贷=0.4, 过数=0.6, 转数, 转五百, 转一千, 增值八达通, 续费=0.5, 退订, 开会员=0.5
checking account, savings account, my account, my bank, my balance, my savings, my checking, my bill, my bills, the bill=0.5, utility bill, electric bill, move money, send money to, my credit card, my card, afford=0.6, my order, my package, shipment, on my list, to my list, to the list, grocery
我的账户, 账户余额, 银行卡, 信用卡, 账单, 水电费, 房租, 订单, 加入购物车, 购物清单
^order, order a, order me, order some, order food, deliver, delivery, takeaway=0.3, pizza=0.4, groceries, add to my cart, to my cart, shopping cart, ^buy, buy me, purchase, pay my, pay the bill, pay for, transfer money, ^transfer, send money, wire money, bank account, account balance, top up, recharge my, my balance, refund my, track my package, where is my order, where is my package, subscribe me, cancel my subscription, cancel my
外卖, 点餐, 点一份, 点份, 点杯, 叫外卖, 下单, 下个单, 购物车, 买一, 买两, 网购, 快递=0.55, 物流=0.5, 付款, 支付=0.55, 转账, 转钱, 汇款, 还信用卡, 缴费, 交电费, 话费, 充值, 充话费, 充一百, 余额, 退款, 退货, 取消订单, 红包, 我的订单

[travel deed]
计程车, 叫一台, 叫台车, 小黄, 国道, 塞不塞, pnr, pnr status
how is the m25, on the m25, motorway=0.4, gridlock, tailback, train times, is my train=0.6, is the train=0.5, tube=0.4, get home=0.4, the quickest way to, how do i get there, parking=0.5, petrol station
塞车, 塞唔塞, 堵吗, 开车去=0.4, 点去=0.5, 点样去=0.6, 怎么去=0.6, 怎么过去=0.7, 叫部车, 叫架车, 打的=0.4, 航班动态, 延误=0.5, 晚点=0.5, 到站=0.4, 高德, 百度地图, 末班车, 首班车, 泊车, 停车位
a cab, hail a
堵不堵, 路上堵
flight=0.5, flights=0.55, flight from, flights from, round trip=0.7, a flight, how do i get to, how can i get to, how to get to, get to the, directions, the closest=0.7, closest=0.55, bus stop, subway=0.5, train station=0.55, airport=0.6, my flight, my location, where am i, ride to, lyft, commute, how long will it take to get
航班=0.6, 地铁站=0.55, 公交站, 火车站怎么, 去机场, 到机场, 最近的地铁
navigate, navigation, directions to, route to, take me to, drive me, call a taxi, a taxi, taxi, uber, get me a cab, cab to, nearest gas station, nearest petrol station, nearest=0.55, the nearest=0.7, nearby=0.5, near me, traffic, traffic jam, how is traffic, bus schedule, train schedule, next bus, next train, flight status
导航, 路线, 怎么走, 打车, 叫车, 叫一辆, 叫辆, 出租车, 网约车, 滴滴, 最近的=0.6, 附近, 堵车, 路况, 停车场, 加油站, 公交, 地铁几点, 下一班

[weather deed]
tip it down, tipping down, chuck it down, chucking it down, pouring=0.4, drizzle, bucketing, brolly, do i need a coat, need a coat, need a jacket, need my coat, wear a coat, will it be cold=0.7, will it be hot=0.7, nice out=0.6, degrees out, pollen, sunscreen=0.5, frost=0.4, heatwave=0.5
带遮, 使唔使带遮, 落雨, 落唔落雨, 会唔会落雨, 打风, 八号风球, 热唔热, 冻唔冻, 穿什么=0.5, 穿几件, 加衣, 下雪, 结冰=0.4, 回南天, 紫外线, 花粉, 冷空气=0.5, 寒潮=0.4, 出太阳, 有太阳, 湿唔湿
how cold is it, how hot is it, how warm is it, cold outside, hot outside, raining=0.7, rain today, rain tomorrow, chance of rain, snow today, snow tomorrow, the temperature=0.5, temperature=0.5, high and low, sunny, cloudy, windy, storm=0.5, heat index, uv index
有多热, 多热, 有多冷, 多冷, 热吗, 冷吗, 天晴, 晴天, 阴天, 下雪, 暴风, 风暴, 湿度, 雨会停, 会停雨, 外套=0.6, 雨伞, 刮风, 降温, 晒吗, 晴吗, 热量指数, 体感温度, 暖和吗, 降雨
weather, the weather, weather forecast, forecast, will it rain, is it raining, going to rain, will it snow, temperature outside, temperature tomorrow, do i need an umbrella, umbrella, sunny tomorrow, humidity, air quality
天气, 天气预报, 下雨吗, 会下雨, 会不会下雨, 下雪吗, 气温, 温度多少, 多少度, 带伞, 空气质量, 雾霾, 台风=0.5, 几度

[live deed]
trading at, this second=0.5, right now=0.35, as we speak=0.5, up to the minute, live score, full time score, who is winning, who won last night, win last night, did united win, final score=0.6, the score=0.55, results of the match, todays rate, the dow, nasdaq, ftse, house prices today, petrol price
现价, 现在多少钱=0.6, 最新价, 收盘, 开盘, 今日金价, 今天油价, 汇价, 谁赢了=0.6, 赢了吗=0.5, 赢咗=0.6, 比赛结果=0.6, 赛果, 今晚比赛, 头条新闻, 今日新闻, 有咩新闻=0.6, 最新消息=0.5, 实时汇率, 而家几点, 依家几点, 今日几号, 几号啊
stock doing, stock today, shares doing
what is the time, the time in, what time=0.5, what time is, what time is it, the time now, time of day, what hour is it, todays date, the date today, what is todays date, score of the game, exchange rate, lottery, trending
现在的时间, 现在时间, 今天的日期, 今天是几号, 今天星期, 行情, 涨停, 实时
stock price, share price, stock market, exchange rate today, bitcoin price, price of bitcoin, the score of, who won the game, latest news, news today, breaking news, headlines, todays news, what time is it, current time, what day is it, what is the date, lottery numbers
股价, 股票=0.6, 大盘, 汇率=0.6, 今日汇率, 比特币价格, 油价, 金价, 比分, 今天新闻, 最新新闻, 新闻头条, 热搜, 现在几点, 几点了, 今天几号, 星期几, 彩票, 开奖

[files deed]
google drive, dropbox, onedrive, icloud, upload on, upload it to, upload to
save this as, save it as, save as a pdf, as a pdf=0.4, put it on my desktop, on my desktop, on the shared drive, shared drive=0.5, upload it, download the file, attach it to, in my drive, in my dropbox, zip it up, unzip
存到桌面, 存到=0.5, 存成=0.4, 存进=0.5, 保存到, 另存为, 导出成=0.5, 上传, 下载=0.5, 网盘, 云盘, 压缩包, 打包成=0.5, 挪到=0.5, 移到=0.5
delete all, delete the, delete my, ^delete, remove the file, rename the file, move the file, copy the file, files in my, downloads folder, my folder, empty the trash, free up space, upload this to, save it to my, backup my, back up my, format my disk
删掉, 删除, 这个文件删, 清空, 回收站, 重命名, 移动文件, 复制文件, 备份, 清理内存, 上传到, 保存到桌面, 解压, 格式化

[negation grammar]
dont want, do not want, no longer need, rather not, forget the, forget about, never mind the, nor do i, not looking for, not after
唔要, 唔使, 唔好, 唔系, 冇需要, 毋须, 不想看, 别再, 别给, 别去, 不是要, 不是让, 没让你, 没叫你, 不用管, 不用给
not, not needed, not necessary, dont, do not, doesnt, does not, didnt, no, never, without, no need, no need to, not need, skip, skip the, instead of, rather than, except, excluding, leave out, stop, isnt, is not, neither, nor
不用, 不要, 不需要, 不必, 无需, 无须, 别, 甭, 不是, 不想, 勿, 请勿, 不想要, 免了, 不用了, 不要了, 不做, 不查, 不翻, 不写, 不给, 先不, 就不, 而不是, 除了, 跳过, 省去

[contrast grammar]
all i want is, all i need is, what i want is, what i need is
净系, 净系要, 只系, 我要的是, 想要的是, 要的是
but, just, only, rather, instead, simply, merely
而是, 只要, 只, 只需, 只用, 只想, 就, 就行, 直接, 改为, 但, 但是, 不过, 我要, 我想

[sequence grammar]
完把, 完给, 完帮, 完了把
后，, 完，, 好之后，, 完请, 完再, 完就, 好再
once that is done, once thats done, when that is done, when thats done, when youre done, after which, and after that, and afterwards, from that, out of that, off the back of that, followed by
完之后, 完以后, 完了之后, 之后再, 然后再, 然后把, 搞掂之后, 跟住, 再将, 再把, 最后再, 后再, 完再
then, and then, after that, afterwards, next, after which, followed by, based on that
然后, 之后, 接着, 接下来, 随后, 完了再, 后再, 以后再

[again grammar]
finally, lastly, first, firstly, at last, once done
再, 最后, 先, 首先

[and grammar]
一边
oh and, and then also, on top of that, while you are at it, while youre at it, as well, alongside, and another thing
同埋, 仲有, 仲要, 再加上, 再加, 另外还, 另外再, 连带, 顺带, 顺手, 一起, 兼, 外加
and, adn, and also, also, plus, as well as, along with, together with, in addition, additionally, or, while, both
并, 并且, 同时, 另外, 顺便, 以及, 还有, 还要, 外加, 此外, 也要, 也给, 一并, 而且, 且, 并请

[join grammar]
加上
with, including, &
和, 跟, 与, 及, 加, 附, 附上, 带, 附带, 连同, 还, 也, 注明, 标注

[filler grammar]
查重, 别扭, 说人话
今后, 此后, 事后, 饭后, 课后, 午后, 日后, 背后, 售后, 落后, 前后, 要唔要, 使唔使, 好唔好, 系唔系, 会唔会, 有冇, 系咪, 是不是要
could i trouble you for, might i trouble you for, mind, hiya, mate, love, cheers, real quick, right, alright, quick ones, quick one, quick question, quick q, quick favour, do me a favour, work your magic
唔该, 可唔可以, 得唔得, 帮手, 帮我手, 畀我, 俾我, 拜托, 拜托了, 烦您, 有劳, 各位, 哈, 哦, 喔, 啦, 嘛, 喇, 㗎, 啩, 嘅, 两个问题, 一个问题, 问个问题, 问一下, 问下, 想问下, 想问一下, 请教一下
please, pls, plz, could you, can you, would you, will you, would you mind, could you please, can you please, would you please, would you kindly, kindly, do you know, do you mind, i need, i want, i want to, i would like, i would like to, id like, i need you to, i want you to, help me, help me to, help, let us, lets, give me, gimme, show me, let me, tell me, now, ok, okay, so, well, hey can you, quickly, quick, for me, if possible, the following, one more time, could someone
请, 请你, 请您, 请帮, 请帮我, 请帮忙, 请将, 请把, 请问, 麻烦, 麻烦你, 麻烦您, 劳驾, 烦请, 帮, 帮我, 帮忙, 帮我把, 给我, 能不能, 能否, 可以, 可不可以, 可否, 能, 一下, 下面, 以下, 我想要, 我需要, 需要, 帮个忙, 来, 替我, 为我, 现在, 好吗, 可以吗, 行吗, 吧, 啊, 呀, 呢, 这个, 那个, 请教
edge computing, cloud computing, quantum computing, computing, 边缘计算, 云计算, 量子计算, 计算机, 计算机科学, 计算所, 计划, 换个地方
别的, 区别于, 级别, 特别, 分别, 个别, 性别, 告别, 识别, 不同于, 就业, 就是, 成就, 只有, 只是, 与其, 参与, 和平, 共和国, 温和, 总和, 和谐, 直接原因, 先生, 首先是, 优先, 先进, 再次, 再生, 也许, 还原, 以及时, 并不, 并发, 并行, 合并, 跟踪, 跟进, 带宽, 附近的, 附件, 附件里, 附件中, 加密, 加速, 参加, 增加, 能力, 能源, 性能, 功能, 智能, 人工智能, 可能, 能量, 将来, 来自, 未来, 原来, 近年来, 以来, 看来, 下来

[deictic grammar]
this, that, these, those, it, them, above, below, following, the text, my text, my essay, attached, attachment, the attached
这, 这段, 这篇, 这份, 这个, 这些, 这封, 这张, 这本, 这句, 那段, 那篇, 上面, 上述, 以上, 刚才, 刚刚, 前面, 下文, 上文, 原文, 全文, 附件, 它

[followup grammar]
again, once more, one more time, another, another one, one more, more of them, more of those, same, the same, same thing, same for, what about, how about, and in, now in, as before, like before, instead, continue, go on, keep going, more, longer, shorter, simpler, redo, retry, try again, a bit more, also in, in more detail, less, fewer, only, what else, anything else
再来, 再来一个, 再来一次, 再给, 再多, 再讲, 再说, 再短, 再长, 再, 重新, 重来, 换成, 改成, 换一个, 换个, 还有吗, 还有别的, 还有, 继续, 接着, 同样, 一样, 那, 呢, 又, 更, 多一点, 少一点, 详细点, 详细一点, 简单点, 刚才, 上一个, 另一个, 另外, 太

[result grammar]
the summary, that summary, the translation, the result, the results, the answer, your answer, the output, that answer, your reply, based on, you just, you used, of that
刚才的回答, 你的回答, 刚才的答案, 刚才的结果, 上面的回答, 结果, 译文, 上面的答案, 摘要里, 上一条, 刚才说的

[object grammar]
摘要, 摘要里, 小结, 概要, 提要, 译文, 综述, 参考文献, 关键词

[language grammar]
tagalog, filipino, swahili, welsh, irish gaelic, gaelic, urdu, punjabi, tamil, telugu, marathi, gujarati, nepali, burmese, khmer, lao, mongolian, tibetan, hawaiian, catalan, basque, croatian, serbian, bulgarian, slovak, slovenian, lithuanian, latvian, estonian, icelandic, albanian, armenian, georgian, kazakh, uzbek, afrikaans, zulu, xhosa, amharic, somali, yoruba, hausa, igbo, esperanto, hokkien, teochew, hakka, shanghainese, farsi, pashto, kurdish, sanskrit, yiddish, maori, samoan, brazilian portuguese, british english, american english
他加禄语, 菲律宾语, 斯瓦希里语, 威尔士语, 乌尔都语, 旁遮普语, 泰米尔语, 缅甸语, 柬埔寨语, 高棉语, 老挝语, 蒙古语, 藏语, 维吾尔语, 加泰罗尼亚语, 塞尔维亚语, 克罗地亚语, 保加利亚语, 捷克语, 匈牙利语, 罗马尼亚语, 芬兰语, 挪威语, 丹麦语, 冰岛语, 波斯语, 希伯来语, 世界语, 闽南语, 台语, 闽南话, 客家话, 上海话, 广东话, 白话文=0.5, 文言文, 西文, 葡文, 泰文, 越南文, 荷兰文, 阿拉伯文, 意大利文, 马来文, 华语, 国语
english, chinese, mandarin, cantonese, french, german, spanish, italian, portuguese, russian, japanese, korean, arabic, hindi, dutch, swedish, norwegian, danish, finnish, polish language, turkish, greek, latin, hebrew, thai, vietnamese, indonesian, malay, ukrainian, czech, hungarian, romanian, persian, bengali, simplified chinese, traditional chinese
英语, 英文, 中文, 汉语, 普通话, 粤语, 国语, 法语, 法文, 德语, 德文, 西班牙语, 西语, 意大利语, 葡萄牙语, 葡语, 俄语, 俄文, 日语, 日文, 韩语, 韩文, 阿拉伯语, 印地语, 荷兰语, 瑞典语, 波兰语, 土耳其语, 希腊语, 拉丁语, 泰语, 越南语, 印尼语, 马来语, 乌克兰语, 繁体中文, 简体中文, 繁体, 外语

[toLanguage grammar]
only read, only reads, only speak, only speaks, only understand, only understands, only know, only knows, can only read
只懂, 只会, 只识, 只看得懂, 只会说, 只会讲, 净系识, 只认得
into, to, in, as, now in, and in, also in
改成, 换成, 转成, 成, 为, 用, 译, 翻, 转, 到

[languageWord grammar]
first
怎么表达, 怎样表达, 如何表达, 怎么表述
rendering, translation, subtitle, subtitles
是什么意思, 什么意思, 系咩意思, 咩意思, 啥意思, 点讲, 点样讲, 点写, 点样写, 怎样说, 怎样写, 如何说, 咋说, 咋写, 译本, 译文
version, word for, please, equivalent
版, 版本, 怎么说, 怎么讲, 怎么写

[operator grammar]
multiply, divide, add up, divisible by, added to, subtracted from
除以, 相乘, 相加
plus, minus, times, multiplied by, divided by, over, squared, cubed, to the power of, to the power, mod, modulo, percent of, add, subtract, multiply by, divide by
加, 减, 乘, 除, 加上, 减去, 乘以, 除以, 加到, 的平方, 的立方, 次方, 乘上, 除, 开平方, 开方, 等于

[function grammar]
sqrt, sin, cos, tan, log, ln, exp, abs, factorial, square root of, cube root of, log base, logarithm of, average of, sum of, mean of, median of, percent of, gcd, lcm

[unit grammar]
摄氏, 华氏
cup, pint, quart, teaspoon, tablespoon, tablesppon, celcius, milligram, milliliter, millilitre, ton, tonne, stone, nautical mile, knot, square metre, square meter, square foot, cubic metre, joule, calorie, watt, kilowatt, horsepower, pascal, psi, bar
吨, 杯, 茶匙, 汤匙, 海里, 两, 钱, 尺, 寸, 里, 平方公里, 立方米, 焦耳, 卡路里, 千瓦
km, kilometre, kilometer, mile, metre, meter, cm, centimetre, centimeter, mm, foot, feet, inch, yard, kg, kilogram, gram, pound, lb, ounce, oz, litre, liter, ml, gallon, celsius, fahrenheit, kelvin, hour, minute, second, day, week, month, year, kb, mb, gb, tb, byte, bit, mph, km/h, degree, radian, acre, hectare, dollar, euro, yuan
公里, 千米, 英里, 米, 厘米, 毫米, 英尺, 英寸, 千克, 公斤, 斤, 克, 磅, 盎司, 升, 毫升, 加仑, 摄氏度, 华氏度, 小时, 分钟, 秒, 天, 周, 个月, 年, 平方米, 亩, 公顷, 元, 块, 美元, 欧元, 人民币, 字节

[quantity grammar]
how much, how many, how long, how far, how fast, total, each, in total, altogether, per person
多少, 多少钱, 几, 多久, 多长时间, 一共, 总共, 每人, 每月, 每天

[numberword grammar]
one, two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen, seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety, hundred, thousand, million, billion, dozen, half

[countSentences grammar]
sentence, sentences, line, lines
句, 句话, 行

[countPoints grammar]
point, points, bullet, bullets, bullet point, bullet points, item, items, takeaway, takeaways
点, 要点, 条, 项, 条目

[countWords grammar]
word, words

[countCharacters grammar]
character, characters, char, chars
字, 个字, 字符, 个字符

[countTerms grammar]
keyword, keywords, key word, key words, key phrase, key phrases, tag, tags, hashtag, hashtags, term, terms, phrase, phrases
关键词, 关键字, 标签, 术语, 主题词, 词
"""#
}
