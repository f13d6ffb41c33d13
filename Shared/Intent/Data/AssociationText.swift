// swift-format-ignore-file

/// The words of ``Associations``, in the form that its parser reads.
enum AssociationText {
    static let all = #"""
# What people say when they mean a subject, in English and Chinese: a skill that calls itself "weather" is meant by "will it
# rain" and 会下雨吗. Language knowledge only; skills are never named.
#
# A line: names of a subject | words that go with it. Single words, or up to four Han characters.

# What is done
change update edit modify alter adjust amend 修改 更改 更新 调整 | set switch add remove replace rename different another 换 改成 加上 去掉
set create make configure 设置 创建 新建 设定 | start put up begin 开始
add insert append include 添加 加入 增加 | put more 加上
remove delete clear erase drop 删除 移除 清除 清空 | cancel stop off away rid 去掉 不要
cancel abort terminate close end quit 取消 终止 关闭 | stop undo off call 停 退
start activate enable begin open launch 启动 激活 启用 开启 | turn on switch run 打开
stop pause disable deactivate halt 停止 暂停 停用 | turn off switch quiet shut 关掉
show list view display query check inquire 查看 列出 显示 查询 | tell see what have look which read any 有什么 看看 哪些
find locate search where 查找 寻找 定位 | lost look lose misplaced 在哪 找不到
compare comparison 比较 对比 | versus better difference between 哪个好 区别
recommend recommendation suggest suggestion advise advice 推荐 建议 | should good best idea any try which nice 有什么好 哪家好
review rating opinion feedback 评价 评论 评分 | good people think say well stars rate 怎么样 好不好
explain describe definition meaning define 解释 定义 含义 说明 | mean what word stand 什么意思 是什么
spell spelling 拼写 | letters write 怎么写 怎么拼
repeat again 重复 再说 | once say last said hear 再来一遍
confirm confirmation verify validate 确认 核实 验证 | sure right correct check did 对吗 是不是
accept approve allow 接受 允许 同意 | take can support possible 可以吗 能不能
decline reject refuse deny 拒绝 | declined rejected refused not let blocked 被拒
share 分享 共享 | send let friends 发给
request apply application ask 申请 请求 | want need would get like put 想要
order buy purchase shop 订购 购买 下单 | get want new more 买 来一份
reserve reservation book booking 预订 预约 预定 | table room seat make tonight people hold 订 几位
return refund reimburse 退款 退货 退 | money back bought 退钱
improve increase raise up 提高 增加 提升 | better higher more boost louder brighter 变好 高一点
decrease reduce lower down 降低 减少 | less softer quieter dim lower 小一点 低一点
limit maximum allowance 限制 限额 上限 | how much most can max allowed many 最多
report complain complaint 举报 报告 投诉 | tell wrong happened inform issue 出了问题
help support assist 帮助 支持 客服 | problem assistance how what can do 怎么办
track status progress state 状态 进度 跟踪 | where yet happening done did went arrived ready now 到哪了 好了吗
history past previous record records 历史 记录 | last spent did recent recently before 以前 上次
reset restore 重置 恢复 | factory original default settings again 还原
sync synchronise connect pair link 同步 连接 配对 绑定 | phone together add 连上
estimate duration time 时长 多久 | long take days when until how soon 几天
pending waiting 等待 处理中 | still wait yet show complete taking 还没
failed failure error 失败 出错 | not work working wrong won unable through declined 没成功 不行

# Money
money finance financial 钱 财务 金融 | cash dollars funds
balance remaining 余额 剩余 | left much have account remain total 还剩 还有多少
account 账户 账号 | bank checking savings
transfer remit wire 转账 汇款 | send money move account friend sent 打钱
payment pay paid 付款 支付 缴费 | bill money paying due charged 交钱
bill invoice statement 账单 发票 | pay owe electric water utilities month 水电费
due deadline 到期 截止 | when date by last day 什么时候
charge fee fees cost price 费用 手续费 价格 收费 | pay extra much why free charged expensive 多少钱 为什么收
exchange currency conversion convert forex 汇率 兑换 换算 货币 | dollars euros pounds rate yen worth much 换成 等于多少
rate interest 利率 利息 | percent bank loan what apr
tax taxes 税 税务 | irs owe file refund return 报税
income salary wage earnings payroll 收入 工资 薪水 | earn make paid job money paycheck 发工资
receive receiving deposit incoming 收款 入账 存款 | get got salary paid into money 收到
spend spending expense expenses transactions transaction purchases 消费 支出 交易 | spent bought buy recent last purchases money 花了
credit loan mortgage 信用 贷款 | score card borrow
card 卡 银行卡 信用卡 | visa mastercard plastic debit
physical 实体 | actual real plastic
virtual disposable 虚拟 | online temporary one-time
cash withdrawal withdraw atm 现金 取款 取现 | machine got out money took 取钱
top recharge refill 充值 | add money put funds
pin password passcode code 密码 口令 验证码 | forgot number reset digits unlock 忘了
block blocked freeze lock locked hold suspend 冻结 锁定 封 | cannot access stop use account 用不了
fraud scam suspicious unauthorised compromised 欺诈 诈骗 盗刷 | someone stolen used strange without recognise hacked 不是我
lost lose missing lose 丢失 遗失 挂失 | find gone left cannot where 丢了 不见了
stolen theft 被盗 | took stole thief robbed 偷了
recognised recognise recognize unknown 认识 | know didn strange make who idea 不认识
damaged damage broken 损坏 | cracked scratched crushed work bent 坏了
expire expiry expiration 过期 失效 | until last when good soon new 有效期
arrival arrive delivery deliver shipping mail 送达 快递 配送 到货 | come get receive when yet still track post 到了吗
insurance cover coverage policy 保险 | plan insured health benefits 理赔
reward rewards points bonus 积分 奖励 | earned cash redeem use miles 兑换
invest investment stock share market 股票 投资 股价 | price trading doing shares 涨 跌
identity id 身份 证件 | who prove verify need documents passport 身份证
personal details profile information 个人信息 资料 | address name change moved email 搬家
age old 年龄 年纪 | years children kids young minimum 几岁 多大
country countries region abroad international overseas 国家 地区 国外 | travel europe where foreign states 出国
double twice duplicate 重复 | two charged same times 两次
source origin 来源 | come from where 从哪来
compensation wrong incorrect 错误 不对 | less more different amount not right expected 不一样

# Work and time
date day calendar 日期 日历 | today tomorrow monday what month 几号 星期几
time clock hour 时间 | now what what's 几点
timezone zone 时区 | difference hours est pst 时差
timer countdown stopwatch 计时 倒计时 | minutes seconds set for 分钟
alarm wake 闹钟 闹铃 | up morning am set 叫醒我 起床
reminder remind 提醒 | remember forget tell need to 记得 别忘了
event appointment schedule meeting agenda 日程 会议 活动 约会 安排 | at with when have plan today tomorrow 开会
task todo to-do list 待办 任务 清单 | done do need have finish 要做的事
vacation holiday leave pto off 假期 休假 请假 年假 | days time work take break 放假
job work employer boss company 工作 公司 | do hired for
email mail inbox 邮件 邮箱 电子邮件 | send new message write reply from 发给
contact contacts person address 联系人 通讯录 | number phone whose friend 电话号码
message text sms 短信 消息 | send tell say let know 发给
call phone dial telephone 电话 拨打 | mobile number ring talk 打给
post social tweet 社交 发帖 朋友圈 微博 | twitter facebook instagram share status

# Home, media and devices
light lights lamp lighting 灯 灯光 照明 | bulb room bright dark color kitchen 亮 暗
color colour 颜色 | red blue green
clean cleaning vacuum 打扫 清洁 吸尘 | floor robot house dust 扫地
coffee 咖啡 | cup brew machine espresso
plug socket outlet 插座 插头 | power turn smart switch
thermostat heating temperature 温度 空调 暖气 | degrees warm cold hot 冷 热
home house smart 家 智能家居 | door lock garage tv
volume sound audio loudness 音量 声音 | loud louder quiet turn speaker hear up 大声 小声
mute silence silent 静音 | quiet shut sound off 别出声
music song songs track 音乐 歌曲 | play listen artist band hear album singing 听歌 放首歌
playlist 播放列表 歌单 | songs add music
radio station 电台 广播 | fm listen tune channel
podcast podcasts 播客 | episode listen next
audiobook book 有声书 | listen read chapter resume 听书
game games 游戏 | play let
movie film cinema movies 电影 影片 | watch theater showing see 上映
news headlines 新闻 头条 | happening latest world today
speed slow fast 速度 | talk faster slower speak 快一点
language accent voice 语言 口音 | speak english british talk spanish
name 名字 姓名 | call called who 叫什么
device phone gadget 设备 手机 | android iphone bluetooth app

# Travel and places
weather forecast 天气 预报 | rain rainy sunny snow hot cold temperature umbrella outside storm 下雨 带伞 气温 冷不冷
travel trip journey tour 旅行 旅游 出行 | visit going see fun places do 去玩
flight airline plane fly 航班 飞机 机票 | airport ticket land depart boarding from 起飞
hotel room lodging 酒店 宾馆 住宿 | stay nights night 住
train rail railway 火车 高铁 | ticket station leave
ticket tickets 票 车票 | train book buy flight from 买票
taxi cab ride uber 出租车 打车 网约车 | pick driver take airport 叫车
car vehicle auto 汽车 车 | drive driving rent engine
bus transport transit transportation 公交 交通 | train station ride next take 地铁
traffic congestion 路况 堵车 | road busy way route drive jam 堵不堵
direction directions route routing navigation navigate way 路线 导航 方向 | get go how drive fastest find 怎么走
distance far 距离 | miles long away between how kilometres 多远
location place position current 位置 地点 | where am here at 我在哪
luggage baggage bag suitcase 行李 | lost carry airport airline plane 箱子
visa passport 签证 护照 | need country travel enter 入境
vaccine vaccines vaccination shot 疫苗 | need shots travel 接种 打针
alert notification notice warning 通知 警报 | tell know safe danger let going 告诉我
fuel gas petrol gasoline 加油 汽油 燃料 | tank much left full car station empty 油
tire tyre wheel 轮胎 | flat air change pressure
pressure 压力 | air level psi
oil 机油 | change engine car
mileage mpg 油耗 | miles gallon get car
battery jump 电池 电瓶 | dead start car
maintenance service repair mechanic 保养 维修 修理 | fix shop car work check oil broke 修
parking park 停车 | car spot where

# Food and health
restaurant restaurants dining 餐厅 餐馆 饭店 | eat food dinner place lunch serve nearby table 吃饭
meal food dish dinner 饭菜 食物 菜 | eat hungry lunch cook tonight 吃什么
takeaway takeout delivery 外卖 | order food pizza chinese arrive deliver 点餐
recipe cook cooking bake 食谱 菜谱 做菜 | make prepare how dish dinner 怎么做
ingredient ingredients 食材 配料 原料 | need make put recipe go used
substitute substitution replacement alternative 替代 代替 | instead use replace can swap without 换成
nutrition nutritional 营养 | healthy fat sugar protein much vitamins contain content
calorie calories 热量 卡路里 | many much fattening
shopping grocery groceries 购物 买菜 | buy store milk need list 超市
health medical doctor 健康 医疗 医生 | sick pain symptoms hospital 生病 看病
exercise fitness sport 锻炼 健身 运动 | run workout gym

# Knowledge and talk
fact facts trivia factoid knowledge 知识 常识 百科 | who what when where which tell about born famous 是谁
math maths arithmetic calculator calculate calculation 计算 算术 数学 | plus minus times divided sum square root percent number 加 减 乘 除 等于几
measure measurement unit units 单位 度量 | inches cups feet centimeters ounces many pounds kilos 英寸
translate translation 翻译 译 | say french spanish word how german 怎么说
dice 骰子 | roll sided number
coin 硬币 | flip heads tails toss
joke humor humour funny 笑话 幽默 | laugh hear tell 逗我
greeting hello hi 问候 打招呼 | hey morning how good up 你好
goodbye bye farewell 告别 再见 | see later leaving night talk 拜拜
thank thanks gratitude praise 感谢 谢谢 称赞 | appreciate great good job well awesome 太好了
yes affirm agree 肯定 | sure ok right true correct course 好的 可以
no negate disagree 否定 | not wrong never don nope false 不是
maybe unsure uncertain 也许 | know possibly perhaps don care matter either 不确定 随便
hobby hobbies leisure 爱好 | fun like do free enjoy spare
robot bot ai assistant machine 机器人 人工智能 | human real computer are you person program 真人
pet pets animal 宠物 动物 | dog cat have
sports football team 体育 足球 比赛 | score win game played 比分
education school study 教育 学校 学习 | exam class homework course 考试
law legal 法律 | rights court lawyer contract 合同
house property rent rental 租房 房产 | apartment room lease 房租
child children family 孩子 家庭 | kids parents son daughter
"""#
}
